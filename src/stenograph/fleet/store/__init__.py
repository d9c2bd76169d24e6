"""Archives in an object store: keys, segments, and how to send, bring back and remove them.

Theory of operation. An archive has its own prefix in the store, `v1/<archive id>/`. Objects below it are created once
and never overwritten by the machine that sends them. Each is a piece of something that only grows: a pack, a journal,
the numbered events of an index. Its key is the place where the piece begins, so that only one of two senders that
continue at the same place succeeds. `docs/reference/store.md` has the whole protocol.
"""
