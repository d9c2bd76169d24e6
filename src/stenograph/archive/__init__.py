"""All runs of a machine: the agents' files kept byte for byte, and an index of their events."""

from stenograph.archive.home import Home, home_of
from stenograph.archive.reader import IndexReader
from stenograph.archive.schema import open_index

__all__ = ["Home", "IndexReader", "home_of", "open_index"]
