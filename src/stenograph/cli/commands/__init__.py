"""The commands of `steno`, one module each: parse, call, print."""
