"""All runs of a machine: the agents' files kept byte for byte, and an index of their events."""

from stenograph.archive.archive import Archive
from stenograph.archive.home import Home, home_of
from stenograph.archive.schema import open_index

__all__ = ["Archive", "Home", "home_of", "open_index"]
