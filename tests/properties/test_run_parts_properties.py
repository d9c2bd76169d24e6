"""A part of a run is the same whichever kind it is read from: found by the index, or picked from all events."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from stenograph import Recorder, open_archive, open_run
from stenograph.bundle import BundleOptions, create_bundle
from stenograph.model import Event

RUN = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f0"
SOURCES = ("main", "subagent:a1", "subagent:a2")
said = st.lists(
    st.tuples(st.sampled_from(("message.user", "message.assistant")), st.sampled_from(SOURCES)), max_size=14
)
parts = st.fixed_dictionaries(
    {},
    optional={
        "from_seq": st.integers(1, 16),
        "to_seq": st.integers(1, 16),
        "source": st.sampled_from(("main", "subagent", "subagent:a", "a2", "nobody")),
        "unit": st.integers(0, 5),
    },
)


def _wanted(events: list[Event], part: dict[str, object]) -> list[int]:
    """The numbers that the words of the reference mean, counted by hand."""
    unit, wanted = 0, []
    for event in events:
        unit += event.type == "message.user" and event.source == "main"
        name = part.get("source")
        is_source = name is None or (
            event.source == name if "main" in (name, event.source) else name in event.source or name == "subagent"
        )
        in_unit = part.get("unit") in (None, unit)
        if part.get("from_seq", 0) <= event.seq <= part.get("to_seq", 99) and is_source and in_unit:  # type: ignore[operator]
            wanted.append(event.seq)
    return wanted


@settings(max_examples=25)
@given(said=said, some=st.lists(parts, min_size=1, max_size=4))
def test_a_part_is_the_same_of_a_journal_a_bundle_and_an_archived_run(
    said: list[tuple[str, str]], some: list[dict[str, object]]
) -> None:
    """Whatever was said by whom, and whichever part is asked for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Recorder(folder / "archive", run_id=RUN) as recorder:
            for number, (kind, source) in enumerate(said):
                block = {"type": "text", "fidelity": "agent_emitted", "text": f"{number}"}
                payload = {"role": kind.partition(".")[2], "blocks": [block]}
                recorder.record(kind, payload, origin={"adapter": "claude_code", "source": source})
        archive = open_archive(folder / "archive")
        archive.sync(agents=["stenograph"], home=name)
        journal = open_run(recorder.path)
        events = list(journal.events())
        options = BundleOptions(environment=False, page=False)
        runs = [journal, open_run(create_bundle(folder / "run.zip", journal.events(), options=options))]
        runs += [archive.run(RUN)] if said else []
        for part in some:
            wanted = _wanted(events, part)
            for run in runs:
                assert [event.seq for event in run.events(**part)] == wanted, run.kind.name  # type: ignore[arg-type]
                assert len({entry.entry_id for entry in run.entries(**part)}) == len(wanted)  # type: ignore[arg-type]
        for run in runs:
            run.close()
