"""Which formats there are, and which one a file is written in.

Built-in and third-party formats are found in the same way: the entry-point group `stenograph.formats`, each entry
naming a `FormatSpec`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from stenograph.errors import AmbiguousFormat, FormatFailed
from stenograph.fold.agent_tables import format_points, is_ours
from stenograph.formats.base import FormatSpec, Identity
from stenograph.model import mend
from stenograph.model.codec import REFUSALS
from stenograph.version import __version__

if TYPE_CHECKING:
    from importlib.metadata import Distribution

HEAD_BYTES = 1 << 16
HEAD_RECORDS = 20


class _Formats(Mapping[str, FormatSpec]):
    """The installed formats by name. Each is loaded when it is requested: a command needs one or two, or all."""

    def __init__(self) -> None:
        self._points = format_points()
        self._specs: dict[str, FormatSpec | None] = {}
        self.broken: dict[str, str] = {}
        self.packages: dict[str, Distribution] = {}

    def __getitem__(self, name: str) -> FormatSpec:
        if name not in self._specs and name in self._points:
            self._specs[name] = self._loaded(name)
        spec = self._specs.get(name)
        if spec is None:
            raise KeyError(name)
        return spec

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._points if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _loaded(self, name: str) -> FormatSpec | None:
        """The first entry point of that name that provides a format; the others are noted as broken."""
        found: FormatSpec | None = None
        for point in self._points[name]:
            try:
                spec = point.load()
            except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever another package does when it is imported
                self.broken[name] = f"{point.value} cannot be loaded ({type(error).__name__}: {error})"
                continue
            if not isinstance(spec, FormatSpec) or spec.name != name:
                self.broken[name] = f"{point.value} is not a FormatSpec of that name"
            elif found is None:
                found = spec
                if point.dist is not None:
                    self.packages[name] = point.dist
            elif found is not spec:
                self.broken[name] = f"{point.value} has the name of another format, which is used instead"
        return found


def formats() -> Mapping[str, FormatSpec]:
    """Every installed format by its name, in alphabetical order; one package that is broken leaves the others."""
    return _installed()


def broken_formats() -> dict[str, str]:
    """Entry points that do not provide a format, by name, each with the reason."""
    installed = _installed()
    tuple(installed)  # loads them all
    return installed.broken


@cache
def package_of(name: str) -> str:
    """The name and version of the package that a format comes from; empty where that is not known."""
    package = _installed().packages.get(name) if name in _installed() else None
    return "" if package is None else f"{package.name} {package.version}"


@cache
def digest_of_formats() -> int:
    """A number that changes when another format is installed, or another version of a package; none is loaded."""
    points = [point for points in format_points().values() for point in points]
    packages = {id(point.dist): point.dist for point in points if point.dist is not None and not is_ours(point)}
    versions = sorted(f"{package.name} {package.version}" for package in packages.values())
    text = repr((__version__, [(point.name, point.value) for point in points], versions))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) >> 1  # it fits into a database column


@cache
def _installed() -> _Formats:
    return _Formats()


def head_records(head: bytes) -> list[Any]:
    """The first records in the beginning of a file: its complete lines that are JSON (and a last one that is).

    Of text that some format knows (`FormatSpec.text`), its first lines.
    """
    if head[:_LEADING].lstrip()[:1] not in _JSON and any(is_text(head) for is_text in _texts()):
        return _lines(head)
    records = []
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[: HEAD_RECORDS * 2]:
        text = line.removeprefix(b"data:").strip()  # a stream of server-sent events holds JSON, too
        if not text:
            continue
        try:
            records.append(_parsed(text))
        except (ValueError, RecursionError):
            continue
        if len(records) == HEAD_RECORDS:
            break
    return records


_LEADING = 64
_JSON = (b"{", b"[", b"")
"""What a JSON file usually begins with: such a file is not tried as text."""


@cache
def _texts() -> tuple[Callable[[bytes], bool], ...]:
    return tuple(spec.text for spec in formats().values() if spec.text is not None)


def _lines(head: bytes) -> list[Any]:
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return [line for line in text.split("\n") if line.strip()][:HEAD_RECORDS]


def _parsed(text: bytes) -> Any:
    """Parse any JSON, with the fast decoder first, because a sync looks at thousands of files."""
    try:
        return msgspec.json.decode(text)
    except REFUSALS:
        return mend.parse_json(text)[0]


def detect(head: bytes, path: str = "") -> FormatSpec | None:
    """The format that a file with this beginning and path is written in; None when no format knows it."""
    return detect_records(head_records(head), path)


def detect_records(records: Sequence[Any], path: str = "") -> FormatSpec | None:
    """The format of these first records: the one that is surest, then the one with the higher priority.

    Raises `AmbiguousFormat` where that leaves two, and `FormatFailed` where none claims it and one failed.
    """
    scores, failed = _scores(records, path)
    best = max(scores.values(), default=(0, 0))
    if best[0] <= 0:
        if failed:
            raise failed[0]
        return None
    names = tuple(name for name, score in scores.items() if score == best)
    if len(names) > 1:
        raise AmbiguousFormat(path, names)
    return formats()[names[0]]


def _scores(records: Sequence[Any], path: str) -> tuple[dict[str, tuple[int, int]], list[FormatFailed]]:
    """The score and priority of each format, and what formats raised: those claim nothing."""
    scores: dict[str, tuple[int, int]] = {}
    failed: list[FormatFailed] = []
    for spec in formats().values() if records else ():
        try:
            scores[spec.name] = score_of(spec, records, path), spec.priority
        except FormatFailed as error:
            failed.append(error)
    return scores, failed


def score_of(spec: FormatSpec, records: Sequence[Any], path: str) -> int:
    """How sure a format is of a file. Raises `FormatFailed`."""
    try:
        return int(spec.detect(records, path))
    except Exception as error:
        raise FormatFailed(spec.name, error, path) from error


def identity_of(spec: FormatSpec, records: Sequence[Any], path: str) -> Identity:
    """What a format says about a file's run. Raises `FormatFailed`."""
    try:
        return spec.identify(records, path)
    except Exception as error:
        raise FormatFailed(spec.name, error, path) from error
