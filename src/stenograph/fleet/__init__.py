"""The archives of many machines in one object store: sent, brought back, and read as one table."""
