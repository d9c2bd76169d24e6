"""Archives in an object store: keys, segments, and what sends, brings back and removes them.

Theory of operation. An archive has a prefix of its own in the store, `v1/<archive id>/`. Below it stand objects that
are created once and never written over by the machine that sends them. Each is a piece of something that only grows: a
pack, a journal, the numbered events of an index. Its key is the place at which the piece begins, so that of two senders
who would go on at the same place only one succeeds: `docs/reference/store.md` has the whole protocol.
"""
