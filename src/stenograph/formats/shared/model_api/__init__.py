"""What the three model APIs share: wrappers around calls, conversations that each request repeats, parts, usage.

`format` turns lines into calls, one dialect each (`chat`, `responses`, `messages`) turns calls into events.
"""
