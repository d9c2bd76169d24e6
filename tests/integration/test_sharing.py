"""What is shared masked: a planted secret is in no byte of a bundle, a page or a text, wherever it stood."""

from __future__ import annotations

import base64
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest

from secrets_planted import NAMED, NEEDLES, PHRASES, TOKENS, places, planted, sightings, sightings_in_zip
from stenograph import read_events, start_run
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle, debug_bundle
from stenograph.session import Session

EXAMPLES = Path(__file__).parents[1] / "contracts" / "wire_examples.jsonl"
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
REDACTED = BundleOptions(redact=True, environment=False)
SHARED = [
    ("show", "--as", "html", "--redact"),
    ("show", "--as", "markdown", "--redact"),
    ("show", "--as", "json", "--redact"),
    ("show", "--as", "entries", "--redact"),
    ("show", "--full", "--redact"),
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of any repository, with one secret on the list."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secrets").write_text(f"{NAMED}\n\nx\n", "utf-8")
    monkeypatch.setenv("STENOGRAPH_SECRETS", str(tmp_path / "secrets"))


def steno(*arguments: object) -> bytes:
    """What a command prints."""
    command = [sys.executable, "-m", "stenograph", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def shared(journal: Path) -> dict[str, set[str]]:
    """Where a secret is seen in everything that can be made of a journal."""
    bundle = create_bundle("a.zip", read_events(journal), options=REDACTED)
    assert DebugBundle.load(bundle).verify().ok
    assert DebugBundle.load(bundle).manifest.problems == ()
    found = sightings_in_zip(bundle)
    for arguments in SHARED:
        found[" ".join(arguments)] = sightings(steno(arguments[0], journal, *arguments[1:]))
    found["text"] = sightings(steno("text", journal, "--redact", "--root", "texts"))
    for file in Path("texts").rglob("*.txt"):
        found[f"text {len(found)}"] = sightings(file.read_bytes())
    return {name: seen for name, seen in found.items() if seen}


def journal_of(values: list[Any]) -> Path:
    """A journal as somebody else may have written it."""
    path = Path(f"{RUN_ID}.jsonl")
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    return path


@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.scale) for turn in (1, 2))])
def test_a_secret_in_any_place_of_any_event_is_nowhere(turn: int) -> None:
    """Every value and every key of one event of each kind, each with another secret than the turn before."""
    examples = [json.loads(line)["event"] for line in EXAMPLES.read_text().splitlines()]
    secrets = cycle([*TOKENS[turn:], *TOKENS[:turn], NAMED])
    values = [planted(event, place, next(secrets)) for event in examples for place in places(event)]
    assert len(values) > 500
    assert shared(journal_of(values)) == {}


def wrapped(secret: str) -> list[Any]:
    """Ways in which a tool may give a text back."""
    packed = base64.b64encode(f"the file says {secret}, and more.".encode()).decode()
    lines = base64.encodebytes(f"{'x' * 50} {secret} {'y' * 50}".encode()).decode()
    return [
        secret,
        f"amid {secret} words",
        [secret],
        {secret: 1},
        {"deep": [{secret: {secret: [secret]}}]},
        json.dumps({"a": {secret: secret}}),
        json.dumps(json.dumps([secret])),
        "".join(f"\\u{ord(letter):04x}" if letter < "\x7f" else letter for letter in secret),
        f"see data:text/plain;base64,{packed} there",
        {"source": {"type": "base64", "media_type": "text/plain", "data": packed}},
        lines,
        {"name": secret, "value": secret},
    ]


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.scale)])
def test_a_secret_in_any_wrapping_is_nowhere(step: int) -> None:
    """Keys, JSON inside texts, letters that nobody needs to escape, base64, `data:` addresses."""
    values = []
    for secret in [*TOKENS, NAMED, *(phrase.format(inner) for phrase, inner in PHRASES)][::step]:
        for output in wrapped(secret):
            payload = {"name": "t", "call_id": "c", "input": None, "output": output, "fidelity": "router"}
            raw = json.dumps({"said": output})
            values.append(event_of("tool.result", payload) | {"raw": raw})
            message = {"role": "user", "blocks": [{"type": "text", "fidelity": "router", "text": str(output)}]}
            values.append(event_of("message.user", message))
            values.append(event_of("unknown", {"text": ""}) | {"raw_b64": base64.b64encode(raw.encode()).decode()})
    assert shared(journal_of(values)) == {}


numbers = count(1)


def event_of(type: str, payload: Any) -> dict[str, Any]:
    place = {"seq": next(numbers), "run_id": RUN_ID, "path": "", "iteration": 0, "timestamp": "2026-06-08T08:14:42Z"}
    return {**place, "type": type, "payload": payload}


def test_a_secret_in_an_attachment_is_nowhere() -> None:
    """In its content, whatever that is, or in its kind; an attachment without one stays as it is."""
    values = []
    for secret in [*TOKENS, NAMED]:
        for content in (
            secret.encode(),
            b"\x89PNG\xff\x00\x01" + secret.encode() + b"\xfe\x00",
            f"a {secret}".encode(),
        ):
            block = {
                "type": "attachment",
                "fidelity": "router",
                "media_type": "image/png",
                "size": 1,
                "sha256": "0" * 64,
            }
            block |= {"data": base64.b64encode(content).decode()}
            values += [event_of("message.user", {"role": "user", "blocks": [{**block, "media_type": secret}, block]})]
    harmless = {"type": "attachment", "fidelity": "router", "media_type": "image/png", "size": 8, "sha256": "0" * 64}
    harmless |= {"data": base64.b64encode(bytes(range(256))).decode()}
    values.append(event_of("message.user", {"role": "user", "blocks": [harmless]}))
    journal = journal_of(values)
    assert shared(journal) == {}
    assert DebugBundle.load("a.zip").events[-1] == list(read_events(journal))[-1]


def test_a_secret_that_a_stream_cut_is_nowhere(root: Path) -> None:
    """At any letter, in any number of pieces, by several speakers at once; nothing else of the stream changes."""
    with start_run("stream", root=root) as run:
        for cut in range(1, len(TOKENS[0])):
            run.assistant("next")
            for chunk in ("so: ", TOKENS[0][:cut], TOKENS[0][cut:], " done"):
                run.stream(chunk)
        with run.step("a") as one, run.step("b") as other:
            for letter in f" {TOKENS[6]} ":
                one.stream(letter)
                other.stream(letter.upper())
    path = create_bundle("a.zip", read_events(run.path), options=REDACTED)
    bundle = DebugBundle.load(path)
    chunks = [event.payload.blocks[0].text for event in bundle.events if event.type == "message.assistant"]
    assert chunks[:6] == ["next", "so: ", "[masked:anthropic-key]", "", " done", "next"]
    before = list(read_events(run.path))
    assert [(event.seq, event.type, event.path) for event in bundle.events] == [
        (event.seq, event.type, event.path) for event in before
    ]
    assert "".join(chunks).count(TOKENS[0][20:]) == 0
    assert TOKENS[6] not in "".join(chunks[::2]) + "".join(chunks[1::2]) + "".join(chunks)
    page = steno("show", run.path, "--as", "html", "--redact").decode()
    assert TOKENS[0][20:30] not in page


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A machine with a secret in its environment, its folder, its repository and its file names."""

    def make(secret: str) -> Path:
        folder = tmp_path / f"work {secret}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]

        def git(*arguments: str) -> None:
            subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, cwd=folder)

        git("init", "-q", "-b", f"branch-{secret}")
        (folder / "config.py").write_text("token = None\n")
        git("add", ".")
        git("commit", "-qm", f"first {secret}")
        git("tag", f"v1-{secret}")
        git("remote", "add", f"{secret}", f"https://user:{secret}@example.org/x.git")
        (folder / "config.py").write_text(f"token = '{secret}'\n# {secret}\n")
        (folder / f"{secret}.txt").write_text("x")
        monkeypatch.setenv("DEPLOY_KEY", secret)
        monkeypatch.setenv(secret, "the name itself")
        monkeypatch.setenv("LC_MESSAGES", f"C.{secret}")
        monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/opt/{secret}/bin")
        monkeypatch.setattr(sys, "argv", [f"/opt/{secret}/agent", secret])
        return folder

    return make


@dataclass(frozen=True)
class Note:
    """What a host keeps in its session, and JSON does not."""

    text: str
    more: dict[str, Any]


class Unpicklable:
    """A value that no encoder takes, and that says a secret."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return f"<Unpicklable {self.secret}>"

    def __reduce__(self) -> str:
        raise TypeError("never")


@pytest.mark.parametrize("secret", [TOKENS[6], TOKENS[3]])
def test_a_secret_around_a_run_is_nowhere(machine: Callable[[str], Path], secret: str) -> None:
    """Environment, folder, repository, log records and their fields, tracebacks, the session, names of runs."""
    folder = machine(secret)
    session = Session()
    log = logging.getLogger(f"host.{secret}")

    def talk(redact: bool) -> Path:
        recording = debug_bundle(
            folder / f"{redact}.zip",
            root=folder / "storage" / secret,
            name=f"run {secret}",
            session=session,
            options=BundleOptions(redact=redact),
        )
        with pytest.raises(LookupError), recording:  # noqa: PT012  # all of it happens inside the bundle
            recording.run.user(secret)
            context = {
                secret: secret,
                "deep": [{secret: Unpicklable(secret)}],
                "odd": {1, secret},
                "b": secret.encode(),
            }
            log.error(
                "refused %s", secret, extra={"event": secret, "context": context, "other": secret}, stack_info=True
            )
            try:
                raise ValueError(secret)
            except ValueError:
                log.exception(secret)
            session.dispatch(Note(secret, {secret: Unpicklable(secret)}))
            with recording.run.call_workflow(secret) as child, child.step(secret) as step:
                step.user(secret)
            raise LookupError(secret)
        assert recording.path is not None
        return recording.path

    plain = sightings_in_zip(talk(redact=False))
    assert {"error.json", "logs/app.jsonl", "session/after.jsonl", "manifest.json", "README.txt"} <= set(plain)
    assert {"environment/git.diff", "environment/git.json", "environment/variables.json"} <= set(plain)
    assert {"environment/system.json", "environment/python.json", "transcript.html", "events.jsonl"} <= set(plain)
    assert sightings_in_zip(talk(redact=True)) == {}


def test_the_value_of_a_secret_variable_is_nowhere(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """What the environment calls a secret is masked where it stands without a name; common words are not."""
    value = "Tr0ub4dor-and-3"
    monkeypatch.setenv("SHOP_DB_PASSWORD", value)
    monkeypatch.setenv("OTHER_PASSWORD", "password")
    with start_run("r", root=root) as run:
        run.user(f"I typed {value} there, which is my password.")
    create_bundle("a.zip", read_events(run.path), options=REDACTED)
    page = DebugBundle.load("a.zip").read("transcript.html").decode()
    assert value not in page
    assert "which is my password." in page
    assert value.encode() not in steno("show", run.path, "--as", "markdown", "--redact")


def test_secrets_may_be_given(root: Path) -> None:
    """By whoever makes the bundle in Python."""
    with start_run("r", root=root) as run:
        run.user("The project is called Bluebird.")
    options = BundleOptions(secrets=("Bluebird",), environment=False)
    bundle = DebugBundle.load(create_bundle("a.zip", read_events(run.path), options=options))
    assert [entry.content for entry in bundle.entries if entry.role == "user"] == [
        "The project is called [masked:named-secret]."
    ]
    assert bundle.manifest.redacted


def test_a_list_of_secrets_that_cannot_be_read_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is shared that somebody wanted masked."""
    monkeypatch.setenv("STENOGRAPH_SECRETS", "missing")
    with start_run("r", root=root) as run:
        run.user("hi")
    command = [sys.executable, "-m", "stenograph", "show", str(run.path), "--as", "html", "--redact"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert "missing" in done.stderr


def test_the_search_sees_what_is_not_masked(root: Path) -> None:
    """The tests above would notice: unmasked, every secret is seen."""
    assert sightings(" ".join(NEEDLES).encode()) == set(NEEDLES)
    for secret in (TOKENS[0], NAMED):
        for output in wrapped(secret):
            assert secret in sightings(json.dumps(output).encode()) | sightings(str(output).encode())
