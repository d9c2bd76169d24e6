"""Queries over an archive or a bundle: lists, sums, full text, and SQL that is read-only and within limits."""
