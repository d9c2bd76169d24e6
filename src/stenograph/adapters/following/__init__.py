"""Following agents' own session files while they are written."""
