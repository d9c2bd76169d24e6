"""`--redact` on every command, over secrets in natural places and bare tokens in every field of every event."""

from __future__ import annotations

import html
import json
import re
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from here import steno_here
from secret_places import ANY_VALUE
from secrets_planted import places, planted
from stenograph.bundle import DebugBundle
from stenograph.redact.rules import built_in, filled

EXAMPLES = Path(__file__).parents[1] / "contracts" / "wire_examples.jsonl"
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
ENOUGH = 0.95


def value(number: int) -> str:
    """A secret of its own for each place, with letters and digits as generators make them."""
    return f"Kq{number:03d}vW7zRm4T"


NATURAL = [
    (place.format(value(number)), value(number))
    for number, place in enumerate(place for group in ANY_VALUE.values() for place in group)
]
TOKENS = [
    (text, next((part for part in re.findall(r"[\w+-]{12,}", text) if re.search(r"[a-z]3d|0a1b|3DE|123", part)), text))
    for text in (filled(rule.example) for rule in built_in().all)
]
"""Examples of all rules, each with the part by which it is looked for."""


def event(seq: int, type: str, payload: Any) -> dict[str, Any]:
    place = {"seq": seq, "run_id": RUN_ID, "path": "", "iteration": 0, "timestamp": "2026-06-08T08:14:42.000Z"}
    return {**place, "type": type, "payload": payload}


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal with every place as a prompt, as a tool's output and as its input; archived as well."""
    root = tmp_path_factory.mktemp("planted")
    folder = root / "storage" / "transcripts"
    folder.mkdir(parents=True)
    lines: list[dict[str, Any]] = []
    for text, _ in [*NATURAL, *TOKENS]:
        seq = len(lines) + 1
        kind = seq % 3
        if kind == 0:
            block = {"type": "text", "fidelity": "router", "text": f"Please look: {text}"}
            lines.append(event(seq, "message.user", {"role": "user", "blocks": [block]}))
        elif kind == 1:
            call = {"name": "Bash", "call_id": f"c{seq}", "input": {"command": text}, "fidelity": "router"}
            lines.append(event(seq, "tool.call", call))
        else:
            call = {"name": "Bash", "call_id": f"c{seq}", "output": text, "fidelity": "router"}
            lines.append(event(seq, "tool.result", call))
    (folder / f"{RUN_ID}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    steno(root, "sync", "--path", root / "storage")
    return root


def steno(root: Path, *arguments: object, code: int = 0) -> tuple[bytes, str]:
    """What a command prints, and what it says beside that."""
    environment = {
        "STENOGRAPH_HOME": str(root / "archive"),
        "HOME": str(root),
        "STENOGRAPH_CONFIG": "",
        "XDG_CONFIG_HOME": str(root / "config"),
    }
    done = steno_here(*arguments, folder=root, environment=environment)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr.decode()


def share_masked(data: bytes) -> float:
    """How many of the secrets are not in some bytes, also not escaped."""
    text = data.decode("utf-8", "replace")
    texts = (text, html.unescape(text), re.sub(r"\\+([\"/])", r"\1", text))
    wanted = [secret for _, secret in (*NATURAL, *TOKENS)]
    return sum(all(secret not in each for each in texts) for secret in wanted) / len(wanted)


def test_there_are_enough_of_them_and_they_are_seen_where_nothing_is_masked(storage: Path) -> None:
    """The tests below would notice."""
    assert len(NATURAL) >= 200
    assert len(TOKENS) >= 150
    assert share_masked((storage / "storage" / "transcripts" / f"{RUN_ID}.jsonl").read_bytes()) < 0.01


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", RUN_ID, "--as", "html", "--full"),
        ("show", RUN_ID, "--as", "markdown", "--full"),
        ("show", RUN_ID, "--as", "text"),
        ("show", RUN_ID, "--as", "json"),
        ("show", RUN_ID, "--as", "entries"),
        ("show", RUN_ID, "--full"),
        ("tail", RUN_ID, "--json"),
        ("convert", RUN_ID),
        ("search", "look OR Bash", "--limit", "0", "--json"),
        ("sql", "SELECT * FROM events", "--json"),
        ("sql", "SELECT * FROM tool_calls", "--csv"),
        ("sql", "SELECT * FROM messages"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:4])),
)
def test_nearly_all_secrets_are_masked_in_every_output(storage: Path, arguments: tuple[str, ...]) -> None:
    """And the command says how many, by rule."""
    printed, said = steno(storage, *arguments, "--redact")
    assert share_masked(printed) >= ENOUGH
    assert re.search(r"steno: masked [1-9]\d* \((?:\d+ [a-z0-9-]+(?:, )?)+\)", said)


def test_nearly_all_secrets_are_masked_in_a_bundle_and_what_is_asked_of_it(storage: Path) -> None:
    """In every file of it, in their names, and in the answers to questions about an unmasked one."""
    steno(storage, "bundle", "create", RUN_ID, "--redact", "-o", "masked.zip")
    bundle = DebugBundle.load(storage / "masked.zip")
    for file in bundle.manifest.files:
        assert share_masked(file.name.encode()) == 1
        assert share_masked(bundle.read(file.name)) >= ENOUGH
    steno(storage, "bundle", "create", RUN_ID, "-o", "plain.zip")
    printed, said = steno(storage, "query", "plain.zip", "SELECT * FROM events", "--json", "--redact")
    assert share_masked(printed) >= ENOUGH
    assert "masked" in said


def test_nearly_all_secrets_are_masked_in_text_files_and_their_names(storage: Path) -> None:
    """The names are made of prompts."""
    steno(storage, "text", RUN_ID, "--redact", "--root", "texts")
    files = [path for path in (storage / "texts").rglob("*") if path.is_file()]
    assert files
    assert share_masked(" ".join(map(str, files)).encode()) == 1
    assert share_masked(b"".join(path.read_bytes() for path in files)) >= ENOUGH


def test_a_token_in_any_field_of_any_event_is_masked(tmp_path: Path) -> None:
    """Values and keys alike, those that identify an event included."""
    examples = [json.loads(line)["event"] for line in EXAMPLES.read_text().splitlines()]
    secrets = cycle(text for text, _ in TOKENS)
    used = [(place, example, next(secrets)) for example in examples for place in places(example)]
    journal = tmp_path / f"{RUN_ID}.jsonl"
    journal.write_text("".join(json.dumps(planted(example, place, text)) + "\n" for place, example, text in used))
    printed, _ = steno(tmp_path, "show", journal, "--as", "json", "--redact")
    assert share_masked(printed) >= ENOUGH


def test_the_report_says_what_was_masked(storage: Path) -> None:
    """By rule, as JSON; masking what is masked already masks nothing."""
    steno(storage, "show", RUN_ID, "--as", "json", "--redact", "--report", "report.json", "-o", "masked.json")
    report = json.loads((storage / "report.json").read_bytes())
    assert report["masked"] == sum(report["rules"].values()) > 300
    assert report["rules"]["password"] > 100
    masked = storage / "again" / f"{RUN_ID}.jsonl"
    masked.parent.mkdir()
    events = json.loads((storage / "masked.json").read_bytes())
    masked.write_text("".join(json.dumps(each) + "\n" for each in events), "utf-8")
    again, said = steno(storage, "show", masked, "--as", "json", "--redact")
    assert json.loads(again) == events
    assert said.startswith("steno: masked 0\n")
