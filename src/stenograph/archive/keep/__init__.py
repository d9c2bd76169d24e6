"""Keeping: what is new in the agents' folders, read once and appended to the packs."""
