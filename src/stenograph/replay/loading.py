"""Loads a run to replay: its events, and those of the runs that it called, wherever they are kept."""

from __future__ import annotations

from pathlib import Path

from stenograph.bundle.loaded import DebugBundle
from stenograph.errors import InvalidTarget
from stenograph.formats.base import FormatSpec
from stenograph.formats.registry import formats, head_records
from stenograph.journal.reader import read_events
from stenograph.model.event import Event
from stenograph.model.payload import LifecyclePayload
from stenograph.replay.recording import Recording, recording_of
from stenograph.runs.agent_file import AgentFileRun
from stenograph.runs.bundled import BundledRun
from stenograph.runs.journal import JournalRun
from stenograph.runs.opening import open_run
from stenograph.runs.reader import RunReader
from stenograph.runs.target import Target
from stenograph.sources.conversion import convert
from stenograph.sources.detection import detect_file
from stenograph.sources.layouts import layout_of

_DAY_FOLDERS = 3
"""How far the folder of all threads is above one of Codex, which stores them by year, month and day."""
_HEAD = 100
"""The first events of a run, which are searched for its folder."""


def load_recording(target: Target, *, root: Target | None = None, archive: Target | None = None) -> Recording:
    """The recording of a run.

    Raises what `open_run` raises, and `InvalidTarget` for a run without an answer of a model.
    """
    with open_run(target, root=root, archive=archive) as run:
        events = _events(run)
        recording = recording_of(events, run.info.cwd or _cwd(events))
        name = run.kind.place
    if not recording.lanes:
        raise InvalidTarget(f"{name} has no answer of a model, so there is nothing to replay; choose another run")
    return recording


def _events(run: RunReader) -> list[Event]:
    kind = run.kind
    match kind:
        case AgentFileRun():
            return _with_threads(list(run.events(keep_raw=True)), kind.spec, Path(kind.place))
        case BundledRun():
            bundle = DebugBundle.load(kind.place)
            return bundle.events + [event for child in bundle.manifest.child_run_ids for event in bundle.journal(child)]
        case JournalRun():
            return _with_called(list(run.events(keep_raw=True)), Path(kind.place).parent)
    return list(kind.for_bundle())


def _with_called(events: list[Event], folder: Path) -> list[Event]:
    """The events with those of the called runs, whose journals are beside the run's own."""
    known = {event.run_id for event in events}
    for event in events:  # the list grows
        child = event.child_run_id
        if child and child not in known and (path := folder / f"{child}.jsonl").is_file():
            known.add(child)
            events += read_events(path)
    return events


def _cwd(events: list[Event]) -> str | None:
    """The folder of a run: from its lifecycle events, else from the kept lines of its agent."""
    first = events[0].run_id if events else ""
    own = [event for event in events if event.run_id == first][:_HEAD]
    folders = (event.payload.cwd for event in own if isinstance(event.payload, LifecyclePayload))
    if (cwd := next(filter(None, folders), None)) is not None:
        return cwd
    adapter = next((event.origin.adapter for event in own if event.origin is not None), None)
    spec = formats().get(adapter or "")
    records = head_records("\n".join(event.raw for event in own if event.raw).encode("utf-8", "replace"))
    return spec.identify(records, "").cwd if spec is not None and records else None


def _with_threads(events: list[Event], spec: FormatSpec, file: Path) -> list[Event]:
    """The events with those of child threads, which Codex stores in separate files."""
    layout = layout_of(spec.name)
    known = {event.run_id for event in events}
    wanted = [event.child_run_id for event in events if event.child_run_id]
    # Beside the file, or on another day.
    places = [file.parent, *file.parents[_DAY_FOLDERS : _DAY_FOLDERS + 1]]
    while wanted:
        child = wanted.pop(0)
        if child in known:
            continue
        known.add(child)
        for place in places:
            found = layout.find(place, child)
            if found is not None and detect_file(found).spec == spec:
                added = list(convert(found, spec, keep_raw=False))
                wanted += [event.child_run_id for event in added if event.child_run_id]
                events = events + added
                break
    return events
