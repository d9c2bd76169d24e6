"""Rules over the archive: each is one SELECT, and each row of its result is a violation."""
