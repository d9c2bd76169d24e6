"""The lake: one open table of the events of many archives, from what hosts push or from transcripts in a bucket."""
