"""Events folded into larger things: messages, units, pairs of calls, usage, trees, what was left open. No I/O.

Each module is imported by itself: a command does not wait for what it does not use.
"""
