"""The one way in to a run: whatever a person names, one reader; and the archive with all of them."""
