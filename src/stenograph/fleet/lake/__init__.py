"""The lake: one open table of the events of many archives, made of what hosts push or of transcripts in a bucket."""
