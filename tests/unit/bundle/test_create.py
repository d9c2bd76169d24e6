"""Making bundles and reading them back."""

from __future__ import annotations

import json
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from stenograph import Run, entries, read_events, start_run
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle
from stenograph.errors import SourceError, StoreError
from stenograph.fold.explain import explain
from stenograph.fold.status import NOT_KNOWN
from stenograph.model import Event, encode
from stenograph.render.explanation import explanation_lines
from stenograph.sources.conversion import convert
from stenograph.transcript import TranscriptEntry, reconstruct_transcript


def by_source(found: list[TranscriptEntry]) -> list[TranscriptEntry]:
    return sorted(found, key=lambda entry: (entry.source, entry.sequence_number))


def test_a_bundle_holds_the_run(recorded: Run, tmp_path: Path, bare: BundleOptions) -> None:
    """Manifest, events, entries, logs and called runs come back as they are in the journals."""
    path = create_bundle(tmp_path / "a.zip", read_events(recorded.path), options=bare)
    bundle = DebugBundle.load(path)
    events = list(read_events(recorded.path))
    assert bundle.verify().ok
    assert bundle.events == events
    assert bundle.entries == list(entries(events))
    assert reconstruct_transcript(bundle.logs) == by_source(bundle.entries)
    assert bundle.logs == bundle.transcript
    manifest = bundle.manifest
    assert (manifest.run_id, manifest.name, manifest.status) == (recorded.run_id, "review", "finished")
    (child,) = manifest.child_run_ids
    journal = recorded.path.with_name(f"{child}.jsonl")
    assert bundle.child_events(child) == list(read_events(journal))
    assert bundle.read(f"runs/{child}.jsonl") == journal.read_bytes()
    assert bundle.read("events.jsonl") == recorded.path.read_bytes()
    assert manifest.counts.entries == manifest.counts.log_entries == len(bundle.entries)
    assert json.loads(bundle.read("metrics.json"))["tools"]["read_file"]["failed"] == 1
    assert json.loads(bundle.read("metrics.json"))["tokens"]["total"]["input_tokens"] == 10


def test_the_zip_is_plain_and_private(recorded: Run, tmp_path: Path) -> None:
    """One folder, a fixed order with the manifest first, no directory entries, readable by its owner alone."""
    path = create_bundle(tmp_path / "new" / "a.zip", read_events(recorded.path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
    folder = f"bundle-{DebugBundle.load(path).manifest.bundle_id}"
    assert {name.partition("/")[0] for name in names} == {folder}
    inside = [name.partition("/")[2] for name in names]
    first = ["manifest.json", "README.txt", "metrics.json", "transcript.html", "transcript.jsonl"]
    assert inside[:5] == first
    assert inside[5:] == sorted(inside[5:])
    assert [each.name for each in path.parent.iterdir()] == ["a.zip"]
    subprocess.run(["unzip", "-tq", path], check=True, capture_output=True)


def test_a_bundle_begins_with_what_happened(recorded: Run, tmp_path: Path) -> None:
    """README.txt has what `steno explain` says of the run, without its costs: a bundle has no prices."""
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", read_events(recorded.path)))
    lines = list(explanation_lines(explain(read_events(recorded.path), None, NOT_KNOWN)))
    told = bundle.read("README.txt").decode().partition("What happened:\n\n")[2].partition("\nThe files:")[0]
    assert [line.strip() for line in told.splitlines()] == [line.strip() for line in lines[1:]]


def test_the_page_is_the_run(recorded: Run, tmp_path: Path) -> None:
    """`transcript.html` shows what was said; a long run has none unless it is asked for."""
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", read_events(recorded.path)))
    assert "Fine. 零" in bundle.read("transcript.html").decode()
    assert "What happened" in bundle.read("transcript.html").decode()
    plain = create_bundle(tmp_path / "b.zip", read_events(recorded.path), options=BundleOptions(page=False))
    manifest = DebugBundle.load(plain).manifest
    assert manifest.left_out["transcript.html"] == "not asked for"
    assert "(left out: not asked for)" in DebugBundle.load(plain).read("README.txt").decode()
    assert "transcript.html" not in {file.name for file in manifest.files}


def test_a_long_run_has_no_page_unless_asked(recorded: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the manifest says why there is none, whether the length is known before or not."""
    monkeypatch.setattr("stenograph.bundle.page.LONGEST", 100)
    for events in (read_events(recorded.path), list(read_events(recorded.path))):
        bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", events))
        assert "steno show" in bundle.manifest.left_out["transcript.html"]
        assert f"(left out: {bundle.manifest.left_out['transcript.html']})" in bundle.read("README.txt").decode()
    asked = create_bundle(tmp_path / "a.zip", read_events(recorded.path), options=BundleOptions(page=True))
    assert DebugBundle.load(asked).read("transcript.html")


def test_a_folder_gets_a_named_bundle(recorded: Run, tmp_path: Path, bare: BundleOptions) -> None:
    """A target that is no zip is a folder; each bundle there has a name of its own."""
    made = {create_bundle(tmp_path / "bundles", read_events(recorded.path), options=bare) for _ in range(2)}
    assert len(made) == 2
    assert all(path.name.startswith(f"stenograph-{recorded.run_id[:8]}-") for path in made)


def test_given_logs_go_in_as_they_are(recorded: Run, tmp_path: Path, bare: BundleOptions) -> None:
    """Records of a log are kept, lines that are none wrapped and counted; the entries follow when none are there."""
    log = tmp_path / "app.log"
    log.write_bytes(b'{"event":"a","context":{"n":1}}\n\nplain words\n["no","record"]\n{"event":"b"}')
    path = create_bundle(tmp_path / "a.zip", read_events(recorded.path), logs=log, options=bare)
    bundle = DebugBundle.load(path)
    assert [record["event"] for record in bundle.logs[:4]] == ["a", None, None, "b"]
    assert bundle.logs[1]["message"] == "plain words"
    assert bundle.manifest.counts.log_lines_wrapped == 2
    assert bundle.manifest.logs == "given"
    assert reconstruct_transcript(bundle.logs) == by_source(bundle.entries)
    assert [record["event"] for record in bundle.transcript] == ["transcript.entry"] * len(bundle.entries)


def test_logged_entries_are_not_told_twice(recorded: Run, tmp_path: Path, bare: BundleOptions) -> None:
    """A log that has the transcript already is the transcript."""
    first = DebugBundle.load(create_bundle(tmp_path / "a.zip", read_events(recorded.path), options=bare))
    log = tmp_path / "app.log"
    log.write_bytes(b'{"event":"other"}\n' + first.read("logs/app.jsonl"))
    path = create_bundle(tmp_path / "b.zip", read_events(recorded.path), logs=log, options=bare)
    again = DebugBundle.load(path)
    assert again.read("logs/app.jsonl") == log.read_bytes()
    assert again.transcript == first.transcript


def test_a_failed_run_says_why(root: Path, tmp_path: Path, bare: BundleOptions) -> None:
    """`error.json` has the error of the run; a run that never ended is `running`."""
    run = start_run("sum", root=root)
    run.complete(ZeroDivisionError("by zero"))
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", read_events(run.path), options=bare))
    assert bundle.manifest.status == "failed"
    assert "by zero" in json.loads(bundle.read("error.json"))["message"]
    still = start_run("open", root=root)
    unfinished = DebugBundle.load(create_bundle(tmp_path / "b.zip", read_events(still.path), options=bare))
    assert unfinished.manifest.status == "running"
    assert "error.json" not in {file.name for file in unfinished.manifest.files}
    still.complete()


def test_a_called_run_without_a_journal_is_named(recorded: Run, tmp_path: Path, bare: BundleOptions) -> None:
    """What is missing is said."""
    child = next(event.child_run_id for event in read_events(recorded.path) if event.child_run_id)
    recorded.path.with_name(f"{child}.jsonl").unlink()
    manifest = DebugBundle.load(create_bundle(tmp_path / "a.zip", read_events(recorded.path), options=bare)).manifest
    assert (manifest.child_run_ids, manifest.missing_run_ids) == ((), (child,))


def test_a_damaged_journal_is_packed_as_it_is(recorded: Run, tmp_path: Path, bare: BundleOptions) -> None:
    """Lines that are no events are kept and counted, and read back as the journal's reader gives them."""
    lines = recorded.path.read_bytes().split(b"\n")
    damaged = tmp_path / "odd name.jsonl"
    damaged.write_bytes(b"\n".join([b"no json", lines[0], b'{"type":"future"}', *lines[1:-1], b'{"torn']))
    path = create_bundle(tmp_path / "a.zip", read_events(damaged), options=bare)
    bundle = DebugBundle.load(path)
    assert bundle.events == list(read_events(damaged))
    assert (bundle.manifest.counts.malformed, bundle.manifest.counts.torn_bytes) == (1, 6)
    assert reconstruct_transcript(bundle.logs) == by_source(list(entries(read_events(damaged))))


def test_an_empty_journal_is_a_bundle(root: Path, tmp_path: Path) -> None:
    """Nothing happened, and that can be sent, too."""
    run = start_run("x", root=root)
    run.complete()
    run.path.write_bytes(b"")
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", read_events(run.path)))
    assert bundle.verify().ok
    assert (bundle.manifest.run_id, bundle.manifest.status, bundle.entries) == (run.run_id, "unknown", [])


def test_values_may_be_given(tmp_path: Path, bare: BundleOptions) -> None:
    """Events from anywhere; other runs among them stand beside, and lone surrogates are counted."""
    one, two = "550e8400-e29b-41d4-a716-446655440000", "650e8400-e29b-41d4-a716-446655440000"
    events = [event_of(one, "hi \ud800"), event_of(two, "from the child"), event_of(one, "bye")]
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", events, options=bare))
    assert bundle.manifest.child_run_ids == (two,)
    assert [entry.content for entry in bundle.entries] == ["hi \ufffd", "bye"]
    assert [event.run_id for event in bundle.child_events(two)] == [two]
    assert bundle.manifest.counts.replaced == 1


def event_of(run_id: str, text: str) -> Event:
    payload: dict[str, Any] = {"subtype": "note", "text": text}
    return Event(
        seq=1, run_id=run_id, type="system.event", path="", iteration=0, timestamp="2026-06-08", payload=payload
    )


def test_a_conversion_names_its_file(tmp_path: Path, bare: BundleOptions) -> None:
    """An agent's own file is packed as canonical events."""
    line = {"type": "user", "uuid": "u", "sessionId": "550e8400-e29b-41d4-a716-446655440000", "version": "2.1.0"}
    line |= {"timestamp": "2026-06-08T08:14:42.123Z", "message": {"role": "user", "content": "hi"}, "cwd": "/x"}
    file = tmp_path / "550e8400-e29b-41d4-a716-446655440000.jsonl"
    file.write_text(json.dumps(line) + "\n")
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", convert(file), options=bare, source=str(file)))
    assert bundle.manifest.source == str(file)
    assert bundle.manifest.agent.startswith("claude")
    assert bundle.manifest.session_ids == ("550e8400-e29b-41d4-a716-446655440000",)
    assert bundle.read("events.jsonl") == b"".join(encode(event) + b"\n" for event in convert(file))


def test_what_cannot_be_written_leaves_nothing(recorded: Run, tmp_path: Path) -> None:
    """A folder that is a file, or a log that is not there, is one clear error, and no spool is left."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        create_bundle(tmp_path / "file" / "a.zip", read_events(recorded.path))
    with pytest.raises(SourceError):
        create_bundle(tmp_path / "out" / "a.zip", read_events(recorded.path), logs=tmp_path / "missing")
    assert list((tmp_path / "out").iterdir()) == []


def test_an_older_bundle_is_replaced_at_once(recorded: Run, tmp_path: Path, bare: BundleOptions) -> None:
    """The same name twice gives the second bundle; when making it fails, the first stays."""
    path = tmp_path / "a.zip"
    ids = [
        DebugBundle.load(create_bundle(path, read_events(recorded.path), options=bare)).manifest.bundle_id
        for _ in range(2)
    ]
    assert ids[0] != ids[1]
    with pytest.raises(SourceError):
        create_bundle(path, read_events(recorded.path), logs=tmp_path / "missing")
    assert DebugBundle.load(path).manifest.bundle_id == ids[1]


def test_a_long_run_is_whole_and_in_order(tmp_path: Path, bare: BundleOptions) -> None:
    """Short events by the hundred and some of a megabyte: every line and every entry is there, in its place."""
    with start_run("long", root=tmp_path) as run:
        for number in range(300):
            run.user(f"prompt {number} " + "x" * (1 << 20) * (number % 100 == 7))
            run.assistant([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": f"answer {number}"}])
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", read_events(run.path), options=bare))
    assert bundle.read("events.jsonl") == run.path.read_bytes()
    assert [each["context"]["content"] for each in bundle.logs] == [entry.content for entry in bundle.entries]
    assert reconstruct_transcript(bundle.logs) == by_source(bundle.entries)
