"""The one way to open a run, whatever a person names, and the archive with all runs."""
