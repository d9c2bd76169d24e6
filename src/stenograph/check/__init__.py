"""Rules over the archive: each is one SELECT, and each row that it gives is a violation."""
