"""The contract of every exporter, ours and third-party: `check_exporter`."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from stenograph.errors import InvalidOption, InvalidTarget
from stenograph.export.exporter import Exporter, SideFile
from stenograph.fold.losses import KINDS, LossReport
from stenograph.model.block import AttachmentBlock, TextBlock, ThinkingBlock, UnknownBlock
from stenograph.model.event import Event, Origin
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, ToolPayload
from stenograph.model.value import Extra
from stenograph.runs.opening import open_run
from stenograph.testing.run_counts import accounted, counted
from stenograph.testing.run_factory import answer, call, make_run

if TYPE_CHECKING:
    from stenograph.runs.target import Target

SECRET = "ghp_" + "aB3" * 12


class _Broken(Exception):
    """A law does not hold."""


class Run(Struct, frozen=True, kw_only=True):
    """One run to check an exporter with."""

    name: str
    """Its name in the message of a broken law."""
    events: Sequence[Event]


class Written(Struct, frozen=True, kw_only=True):
    """The output of an exporter for a run."""

    data: bytes
    files: dict[str, bytes]
    report: LossReport
    is_refused: bool
    """Whether it cannot hold the run at all."""


class ExporterLaw(Struct, frozen=True):
    """One thing that must hold for every exporter."""

    name: str
    check: Callable[[Exporter, Run], None]


def check_exporter(
    exporter: Exporter, runs: Iterable[Sequence[Event] | Target], *, except_for: Container[str] = frozenset()
) -> None:
    """Check that an exporter keeps the contract, on these runs and on odd ones of our own.

    `runs` are lists of events, such as `make_run` returns, or anything that `open_run` accepts. Raises `AssertionError`
    for first law (`EXPORTER_LAWS`) that does not hold: which, for which run, and why. `except_for` names laws that an
    exporter has a reason not to keep.
    """
    found = [_run(each, number) for number, each in enumerate(runs, 1)]
    if not found:
        raise AssertionError(f"{exporter.name}: there are no runs to check it with")
    odd = [odd for run in found for odd in odd_runs(run)]
    for law in EXPORTER_LAWS:
        if law.name in except_for:
            continue
        for run in (*found, *odd, *_MADE):
            try:
                law.check(exporter, run)
            except _Broken as broken:
                raise AssertionError(f"{exporter.name}: law {law.name!r} broke for {run.name}: {broken}") from broken
            except Exception as error:
                what = f"it raised {type(error).__name__}: {error}"
                raise AssertionError(f"{exporter.name}: law {law.name!r} broke for {run.name}: {what}") from error


def _run(run: Sequence[Event] | Target, number: int) -> Run:
    if isinstance(run, Sequence) and not isinstance(run, str):
        return Run(name=f"run {number}", events=tuple(run))
    with open_run(run) as reader:
        return Run(name=f"run {number} ({run})", events=tuple(reader.events(keep_raw=False)))


# The laws.


def _description(exporter: Exporter, run: Run) -> None:
    """It can be listed and chosen."""
    _must(exporter.name == exporter.name.lower().strip() != "", f"{exporter.name!r} is not a lower-case name")
    _must(bool(exporter.what) and "\n" not in exporter.what, "`what` is one line for people to read")
    _must(exporter.suffix.startswith("."), f"the suffix {exporter.suffix!r} does not begin with a dot")
    for name, values in exporter.options.items():
        _must(name.isidentifier(), f"the option {name!r} is not a name")
        _must(len(values) > 0 and len(set(values)) == len(values), f"the values of {name!r} are not different words")


def _pieces(exporter: Exporter, run: Run) -> None:
    """It gives bytes, and files beside them whose names lead nowhere else."""
    names = []
    try:
        for piece in exporter(iter(run.events), LossReport(exporter.name)):
            if isinstance(piece, SideFile):
                _must(isinstance(piece.data, bytes), f"the file {piece.name!r} is not bytes")
                _must(_is_below(piece.name), f"the file {piece.name!r} would be outside of the folder")
                names.append(piece.name)
            else:
                _must(isinstance(piece, bytes), f"it gives a {type(piece).__name__}")
    except InvalidTarget:
        return
    _must(len(set(names)) == len(names), "two files beside the main one have one name")


def _refusal(exporter: Exporter, run: Run) -> None:
    """A run that it cannot hold is refused in one line, before any byte is given."""
    pieces = 0
    try:
        for piece in exporter(iter(run.events), LossReport(exporter.name)):
            pieces += isinstance(piece, bytes)
    except InvalidTarget as error:
        _must(pieces == 0, "it refused the run after it had given a part of it")
        _must(bool(str(error)) and "\n" not in str(error), "the refusal is not one line")


def _options(exporter: Exporter, run: Run) -> None:
    """Each value of each option works; others are refused."""
    for name, values in exporter.options.items():
        for value in values:
            _written(exporter, run, **{name: value})
        _must_refuse(exporter, run, **{name: "no such word"})
    _must_refuse(exporter, run, no_such_option="x")


def _repetition(exporter: Exporter, run: Run) -> None:
    """The same run gives the same bytes and the same report, and is not changed by it."""
    before = list(run.events)
    first, second = _written(exporter, run), _written(exporter, run)
    _must(first.data == second.data and first.files == second.files, "two exports of one run differ")
    _must(first.report.to_dict() == second.report.to_dict(), "the reports of two exports of one run differ")
    _must(list(run.events) == before, "it changed the events")


def _account(exporter: Exporter, run: Run) -> None:
    """Each text, call, result … of a run is carried or dropped, once; which records are one answer is for the fold."""
    for options in _each_option(exporter):
        written = _written(exporter, run, **options)
        if written.is_refused:
            continue
        want, got = counted(run.events), accounted(written.report)
        for kind in KINDS:
            if kind != "assistant messages":
                counts = f"{got[kind]} of {want[kind]} {kind} are carried or dropped"
                _must(got[kind] == want[kind], f"{counts}{f' with {options}' if options else ''}")


def _report(exporter: Exporter, run: Run) -> None:
    """The report says what it is about: known kinds, counts, and events that exist."""
    report = _written(exporter, run).report
    _must(report.format == exporter.name, "the report is of another format")
    unknown = sorted(report.carried.keys() - set(KINDS))
    _must(not unknown, f"it carries {', '.join(unknown)}, which is not a kind of thing; see KINDS")
    numbers = {event.seq or place for place, event in enumerate(run.events, 1)}
    for line in (*report.changed, *report.dropped):
        _must(line["count"] > 0, f"{line['what']!r} is counted {line['count']} times")
        _must(line["first_seq"] in numbers, f"{line['what']!r} names event {line['first_seq']}, which does not exist")


def _words(exporter: Exporter, run: Run) -> None:
    """Nothing of a text that it does not carry, or that was masked, gets into the file by another way."""
    hidden = [_hiding(event) for event in run.events]
    written = _written(exporter, Run(name=run.name, events=hidden))
    for name, data in {"the main file": written.data, **written.files}.items():
        _must(SECRET.encode() not in data, f"{name} has the source line of an event")


def _lines(exporter: Exporter, run: Run) -> None:
    """Where several runs can stand in one file, each ends its last line."""
    if exporter.is_lines:
        data = _written(exporter, run).data
        _must(
            not data or data.endswith(b"\n"),
            "the last line of a run has no newline, so the next run would continue it",
        )


EXPORTER_LAWS = (
    ExporterLaw("description", _description),
    ExporterLaw("pieces", _pieces),
    ExporterLaw("refusal", _refusal),
    ExporterLaw("options", _options),
    ExporterLaw("repetition", _repetition),
    ExporterLaw("account", _account),
    ExporterLaw("report", _report),
    ExporterLaw("words", _words),
    ExporterLaw("lines", _lines),
)
"""What `check_exporter` checks, in order."""


# Odd runs.


def odd_runs(run: Run) -> Iterator[Run]:
    """A run as crashes, forks and other programs leave it, the same every time."""
    events = list(run.events)
    chance = random.Random(len(events))
    for made, what in (
        (events[: len(events) // 2], "cut in the middle"),
        ([event for event in events if event.type != "tool.result"], "without results"),
        ([event for event in events if event.type != "tool.call"], "without calls"),
        ([event for event in events if event.type != "message.user"], "without prompts"),
        ([replace(event, timestamp="") for event in events], "without times"),
        ([replace(event, seq=0) for event in events], "without numbers"),
        ([_of_subagent(event) for event in events], "of a subagent alone"),
        (_numbered([*events, *events]), "repeated"),
        (_numbered(chance.sample(events, len(events))), "shuffled"),
        ([_renamed(event) for event in events], "with the same id for every call"),
    ):
        yield Run(name=f"{run.name} {what}", events=made)


def _numbered(events: Sequence[Event]) -> list[Event]:
    return [replace(event, seq=seq) for seq, event in enumerate(events, 1)]


def _of_subagent(event: Event) -> Event:
    return replace(event, origin=replace(event.origin or Origin(), source="subagent:x"))


def _renamed(event: Event) -> Event:
    payload = event.payload
    return replace(event, payload=replace(payload, call_id="")) if isinstance(payload, ToolPayload) else event


def _made() -> Iterator[Run]:
    yield Run(name="a run without events", events=())
    odd = make_run(
        "Look.",
        answer("I look.", call("see", "not an object", {"not": "a text"}), call("see", {}, None), thinking="Hm."),
        "\ud83d",
        answer("\ud83d", call("fail", {"a": "\ud83d"}, "\ud83d", error="\ud83d")),
        answer("\u2028 \x85 \x00 </script>"),
    )
    yield Run(name="a run with odd values", events=odd)
    text: dict[str, Any] = {"fidelity": "agent_emitted"}
    blocks = (
        TextBlock(text="", **text),
        ThinkingBlock(thinking="", **text),
        AttachmentBlock(media_type="image/png", size=3, sha256="ab" * 32, data="AAAA", **text),
        AttachmentBlock(media_type="x/y", size=3, sha256="", data=None, **text),
        UnknownBlock(extra=Extra({"type": "novel", "x": 1})),
    )
    payloads: list[tuple[str, Any]] = [
        ("message.user", MessagePayload(role="user", blocks=blocks, system_prompt="Be brief.")),
        ("message.assistant", MessagePayload(role="assistant", blocks=blocks)),
        ("error", ErrorPayload(message="\ud83d")),
        ("system.event", SystemPayload(subtype="novel", text="x", data=[{}])),
    ]
    first = odd[0]
    yield Run(
        name="a run with odd blocks",
        events=[replace(first, seq=seq, type=kind, payload=each) for seq, (kind, each) in enumerate(payloads, 1)],
    )


_MADE = tuple(_made())


# What the laws share.


def _written(exporter: Exporter, run: Run, **options: str) -> Written:
    report = LossReport(exporter.name, exporter.version)
    pieces: list[bytes] = []
    files: dict[str, bytes] = {}
    is_refused = False
    try:
        for piece in exporter(iter(run.events), report, **options):
            if isinstance(piece, SideFile):
                files[piece.name] = piece.data
            else:
                pieces.append(piece)
    except InvalidTarget:
        is_refused = True
    return Written(data=b"".join(pieces), files=files, report=report, is_refused=is_refused)


def _each_option(exporter: Exporter) -> Iterator[dict[str, str]]:
    """The defaults, and every other value by itself."""
    yield {}
    for name, values in exporter.options.items():
        yield from ({name: value} for value in values[1:])


def _hiding(event: Event) -> Event:
    """The event with a source line that no format holds: it is not masked with the rest."""
    return replace(event, raw=SECRET)


def _must_refuse(exporter: Exporter, run: Run, **options: str) -> None:
    try:
        list(exporter(iter(run.events), LossReport(exporter.name), **options))
    except InvalidOption:
        return
    except InvalidTarget:
        return
    raise _Broken(f"it accepts {options}, which it does not have")


def _is_below(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        bool(path.name) and not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\0" not in name
    )


def _must(is_so: bool, what: str) -> None:
    if not is_so:
        raise _Broken(what)
