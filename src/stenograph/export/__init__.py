"""Runs in the formats that others read, each with a report of what it could not hold."""
