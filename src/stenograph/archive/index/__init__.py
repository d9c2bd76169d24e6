"""The index of an archive: its tables, and how events become rows and words."""
