"""What a sync did."""

from __future__ import annotations

from msgspec import Struct, field

from stenograph.errors import SourceError


class Summary(Struct, kw_only=True):
    """What a sync did, in numbers a person can see."""

    new: int = 0
    """Files kept for the first time."""
    grown: int = 0
    rewritten: int = 0
    """Files that were rewritten: their old versions stay."""
    moved: int = 0
    gone: int = 0
    """Files that are not there any more; what was kept of them stays."""
    unchanged: int = 0
    failed: int = 0
    """Files that could not be read."""
    events: int = 0
    """New events in the index."""
    bytes_read: int = 0
    """Of the agents' files, as often as they were read; of a database, its rows."""
    bytes_written: int = 0
    """To the packs."""
    damaged: int = 0
    """Damaged bytes of the packs."""
    left_out: dict[str, int] = field(default_factory=dict)
    """The number of files that are not kept, by reason."""
    rebuilt: bool = False
    """The index was rebuilt from the packs."""
    checkpoint: int | None = None
    """The leaves of the checkpoint that was signed after the sync; None where no key signs the archive."""
    expired: int = 0
    """Runs that a `[[keep]]` rule of the configuration no longer keeps, and that were removed."""
    expiring: int = 0
    """Runs that such a rule would remove, if it said `apply = true`."""
    problems: list[str] = field(default_factory=list)
    """What could not be read, and why."""

    def fail(self, problem: SourceError) -> None:
        """Note a file that could not be read."""
        self.failed += 1
        self.problems.append(str(problem))
