"""Audits an archive, in parts that are reported separately, because each proves something else.

Integrity: every frame is whole and its content matches its header. Append-only: the log still begins with the leaves of
each checkpoint from outside; without one, the owner of the archive could have rewritten all of it. Completeness is not
checked: what was never kept cannot be known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph.archive.store.pack import About, Frame, Header, content_of, is_erased
from stenograph.errors import BadSignature, SourceError
from stenograph.evidence.anchor import Anchor
from stenograph.evidence.log import Log
from stenograph.evidence.note import VerifierKey
from stenograph.merkle import leaf_hash

Progress = Callable[[int], None]
"""Called with the number of bytes that were checked."""
_MOST_NAMED = 100


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem, and where it is."""

    kind: str
    """`damaged`, `changed`, `unfinished`, `missing`, `rewritten`, `foreign` or `unsigned`; of a removal, `removed`."""
    message: str
    leaf: int | None = None
    run_id: str | None = None
    path: str | None = None
    start: int | None = None
    """The range of the file's bytes."""
    length: int | None = None


class AnchorVerdict(Struct, frozen=True, kw_only=True):
    """How the log compares with one checkpoint."""

    path: str
    size: int
    is_consistent: bool
    is_signed: bool | None
    """Whether a given key has signed it; None where no key was given."""
    findings: list[Finding] = []


class Verdict(Struct, frozen=True, kw_only=True):
    """What an audit found."""

    frames: int
    root: str
    """The root of the log as it is, in hexadecimal."""
    bytes_checked: int
    """Bytes of content that were checked; 0 for a quick audit, which reads headers only."""
    forgotten: int
    """Frames whose content was removed on purpose."""
    is_whole: bool
    """Whether `integrity` has no finding."""
    integrity: list[Finding] = []
    removals: list[Finding] = []
    """The frames which say that content was removed on purpose: each is a leaf of its own."""
    anchors: list[AnchorVerdict] = []

    @property
    def is_anchored(self) -> bool:
        """Whether a signed checkpoint from outside vouches for a part of the log."""
        return any(each.is_consistent and each.is_signed and each.size for each in self.anchors)

    @property
    def is_good(self) -> bool:
        """Whether no difference was found."""
        return self.is_whole and all(each.is_consistent and each.is_signed is not False for each in self.anchors)


def audit(
    folder: Path,
    anchors: Iterable[Anchor] = (),
    keys: Sequence[VerifierKey] = (),
    *,
    origin: str | None = None,
    quick: bool = False,
    progress: Progress | None = None,
) -> Verdict:
    """Audit the packs in a folder; `quick` leaves out the content of frames.

    With `origin`, the name of the log, a checkpoint of another log is a finding.
    """
    log = Log(folder)
    names = _Names(log.frames)
    removed = _removed(log.frames)
    findings = [
        Finding(
            kind="damaged",
            message=f"bytes {each.start} to {each.end} of pack {each.pack} are not a frame",
            length=each.end - each.start,
        )
        for each in log.damages
    ]
    checked = 0
    for index, frame in enumerate(log.frames):
        if quick or not frame.header.length:
            continue
        if index in removed:
            if not is_erased(folder, frame.place):
                findings.append(names.finding(index, "unfinished", "its removal was begun; run: steno sync"))
            continue
        checked += frame.header.length
        if progress is not None:
            progress(frame.header.length)
        try:
            content_of(folder, frame.place, frame.header)
        except SourceError:
            findings.append(names.finding(index, "changed", "its content is not what its header says"))
    return Verdict(
        frames=log.tree.size,
        root=log.tree.root().hex(),
        bytes_checked=checked,
        forgotten=len(removed),
        is_whole=not findings,
        integrity=findings,
        removals=[
            names.finding(index, "removed", _removal(frame))
            for index, frame in enumerate(log.frames)
            if frame.header.kind == "forgotten"
        ],
        anchors=[_compared(log, names, anchor, keys, origin) for anchor in anchors],
    )


def _removed(frames: list[Frame]) -> set[int]:
    """The leaves whose content later frames say was removed on purpose."""
    return {leaf for frame in frames if frame.header.kind == "forgotten" for leaf in frame.header.leaves}


def _removal(frame: Frame) -> str:
    header = frame.header
    why = f": {header.why}" if header.why else ""
    return f"content of {len(header.leaves)} leaves removed on purpose by {header.by} at {header.at}{why}"


class _Names:
    """Which run and file a frame belongs to."""

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = frames
        self._abouts: dict[int, About] = {}
        for frame in frames:
            if frame.header.about is not None:
                self._abouts.setdefault(frame.header.file, frame.header.about)

    def finding(self, leaf: int, kind: str, what: str) -> Finding:
        """A finding about a frame of this log."""
        return self.of_header(leaf, self._frames[leaf].header, kind, what)

    def of_header(self, leaf: int, header: Header, kind: str, what: str) -> Finding:
        """A finding about a frame by its header."""
        about = header.about or self._abouts.get(header.file)
        where = "" if about is None else f" of {about.path}"
        extent = f", bytes {header.start} to {header.start + header.length}" if header.length else ""
        return Finding(
            kind=kind,
            message=f"leaf {leaf}{extent}{where}: {what}",
            leaf=leaf,
            run_id=None if about is None else about.run_id,
            path=None if about is None else about.path,
            start=header.start,
            length=header.length,
        )


def _compared(
    log: Log, names: _Names, anchor: Anchor, keys: Sequence[VerifierKey], origin: str | None
) -> AnchorVerdict:
    checkpoint = anchor.checkpoint
    findings: list[Finding] = []
    is_signed = _is_signed(anchor, keys, findings)
    if origin not in (None, checkpoint.origin):
        message = f"it is a checkpoint of {checkpoint.origin}, and this archive is {origin}"
        findings.append(Finding(kind="foreign", message=message))
    elif checkpoint.size > log.tree.size:
        missing = checkpoint.size - log.tree.size
        message = f"the log has {log.tree.size} leaves and the checkpoint says {checkpoint.size}: {missing} are missing"
        findings.append(Finding(kind="missing", message=message))
    elif log.tree.root(checkpoint.size) != checkpoint.root:
        message = f"the first {checkpoint.size} leaves are not those of the checkpoint: history was rewritten"
        findings.append(Finding(kind="rewritten", message=message))
    is_consistent = not any(each.kind in ("foreign", "missing", "rewritten") for each in findings)
    if any(each.kind in ("missing", "rewritten") for each in findings):
        findings += _differences(log, names, anchor)
    return AnchorVerdict(
        path=anchor.path,
        size=checkpoint.size,
        is_consistent=is_consistent,
        is_signed=is_signed,
        findings=findings,
    )


def _is_signed(anchor: Anchor, keys: Sequence[VerifierKey], findings: list[Finding]) -> bool | None:
    if not keys:
        return None
    try:
        is_signed = any(key.check(anchor.note) is not None for key in keys)
    except BadSignature as error:
        findings.append(Finding(kind="unsigned", message=str(error)))
        return False
    if not is_signed:
        findings.append(Finding(kind="unsigned", message="no key that was given has signed this checkpoint"))
    return is_signed


def _differences(log: Log, names: _Names, anchor: Anchor) -> list[Finding]:
    """Which leaves differ, by the tiles of the anchor; nothing where it has none.

    A leaf that is at another place in the log now is not missing: frames before it were moved or removed.
    """
    present: dict[bytes, int] = defaultdict(int)
    for each in log.tree.levels[0]:
        present[each] += 1
    found: list[Finding] = []
    for index, entry in enumerate(anchor.entries()):
        hashed = leaf_hash(entry)
        if present[hashed]:
            present[hashed] -= 1
        elif len(found) < _MOST_NAMED:
            found.append(_gone(names, index, entry))
    return found


def _gone(names: _Names, index: int, entry: bytes) -> Finding:
    try:
        header = msgspec.json.decode(entry, type=Header)
    except msgspec.MsgspecError:
        return Finding(kind="missing", message=f"leaf {index} of the checkpoint is not in the log", leaf=index)
    return names.of_header(index, header, "missing", "is not in the log as the checkpoint has it")
