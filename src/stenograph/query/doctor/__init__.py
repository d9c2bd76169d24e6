"""Diagnosis of agents' files, the archive and journals. It only reports facts; nothing is changed."""
