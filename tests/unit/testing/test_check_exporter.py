"""`check_exporter` finds what an exporter does wrong, and says which law broke for which run."""

from __future__ import annotations

import json
import re
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from archive_cases import claude_line, written
from golden_cases import CASES, run_of
from stenograph.errors import InvalidTarget
from stenograph.export.exporter import Exporter, Piece, SideFile, exporters
from stenograph.fold.conversation import ChatRules, account_for_run, conversation, drop_part
from stenograph.fold.exchange import Exchange, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model import Event
from stenograph.testing import EXPORTER_LAWS, answer, call, check_exporter, make_run

RUN = make_run("Count the files.", answer("I count.", call("sh", {"cmd": "ls"}, "3"), thinking="Hm."), answer("Three."))


def joined(events: Iterable[Event], report: LossReport) -> tuple[Exchange, list[Turn]]:
    """The turns that a small format holds: texts and calls of the main agent."""
    run = exchange(events)
    account_for_run(run, report)
    rules = ChatRules(thinking=lambda _: "no place", attachments=lambda _block, _place: "no place")
    items = conversation(run.main.items, report, rules)
    for thread in run.subagents:
        report.drop("subagents", next((item.seq for item in thread.items), 1))
        drop_part(thread.items, report, "subagent")
    return run, [item for item in items if isinstance(item, Turn)]


def write(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """One line for each turn."""
    for turn in joined(events, report)[1]:
        said = json.dumps([turn.role, [getattr(block, "text", "") for block in turn.blocks], len(turn.calls)])
        yield (said.upper() if case == "upper" else said).encode() + b"\n"


def exporter(made: Any = write, **changes: Any) -> Exporter:
    """A small exporter that keeps the contract, unless it is given something that does not."""
    told = {"name": "tiny", "what": "an example", "suffix": ".txt", "options": {"case": ("as-is", "upper")}}
    return Exporter(**{**told, "is_lines": True, "write": made, **changes})


def test_an_exporter_that_keeps_the_contract_passes(tmp_path: Path) -> None:
    """With runs as events and as files."""
    path = written(tmp_path / "a.jsonl", claude_line(1), claude_line(2, "assistant"))
    check_exporter(exporter(), [RUN, path])
    with pytest.raises(AssertionError, match="no runs"):
        check_exporter(exporter(), [])


def raising(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Breaks on a call without a result."""
    run, _ = joined(events, report)
    yield from (b"%d\n" % len(call.output) for turn in run.main.turns for call in turn.calls)


def forgetting(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Leaves thinking out, and does not say so."""
    yield from write((event for event in events if "Hm." not in str(event.payload)), report, case=case)


def doubling(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Counts something twice."""
    yield from write(events, report, case=case)
    report.carry("texts", report.carried.get("texts", 0))


def inventing(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Has a kind of its own."""
    yield from write(events, report, case=case)
    report.carry("feelings")


def misplacing(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Names an event that there is not."""
    yield from write(events, report, case=case)
    report.change("something", 10**6)


class Remembering:
    """Gives something else the second time."""

    count = 0

    def __call__(self, events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
        self.count += 1
        yield from write(events, report, case=case)
        yield b"%d\n" % self.count


def leaking(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Writes the source lines, too."""
    kept = list(events)
    yield from write(kept, report, case=case)
    yield from (f"{event.raw}\n".encode() for event in kept)


def escaping(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Puts a file where it likes."""
    yield SideFile("../x", b"")
    yield from write(events, report, case=case)


def late(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Refuses a run when a part of it is written."""
    yield from write(events, report, case=case)
    raise InvalidTarget("no")


def texts(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Any]:
    """Gives texts instead of bytes."""
    yield from (piece.decode() for piece in write(events, report, case=case) if isinstance(piece, bytes))


def unended(events: Iterable[Event], report: LossReport, *, case: str) -> Iterator[Piece]:
    """Leaves the last line open."""
    yield b"".join(piece for piece in write(events, report, case=case) if isinstance(piece, bytes)).rstrip(b"\n")


def deaf(events: Iterable[Event], report: LossReport, **_: str) -> Iterator[Piece]:
    """Knows one of the values of its option."""
    yield from write(events, report, case={"as-is": "as-is"}[_["case"]])


@pytest.mark.parametrize(
    ("law", "made", "changes"),
    [
        ("description", write, {"name": "Tiny"}),
        ("description", write, {"what": ""}),
        ("description", write, {"suffix": "txt"}),
        ("description", write, {"options": {"case": ()}}),
        ("pieces", escaping, {}),
        ("pieces", texts, {}),
        ("pieces", raising, {}),
        ("refusal", late, {}),
        ("options", deaf, {}),
        ("repetition", Remembering(), {}),
        ("account", forgetting, {}),
        ("account", doubling, {}),
        ("report", inventing, {}),
        ("report", misplacing, {}),
        ("words", leaking, {}),
        ("lines", unended, {}),
    ],
)
def test_a_mistake_is_found_by_its_law(law: str, made: Any, changes: dict[str, Any]) -> None:
    """The message names the exporter, the law and the run."""
    with pytest.raises(AssertionError, match=f"law '{law}' broke for (run 1|a run)"):
        check_exporter(exporter(made, **changes), [RUN])


def test_a_law_may_be_left_out() -> None:
    """By its name, where there is a reason."""
    check_exporter(exporter(unended), [RUN], except_for={"lines"})
    assert len({law.name for law in EXPORTER_LAWS}) == len(EXPORTER_LAWS) == 9


@pytest.mark.parametrize("name", [name for name in exporters() if name not in ("parquet", "scout")])
def test_our_exporters_keep_the_contract(name: str) -> None:
    """On a small run and the odd ones made of it."""
    check_exporter(exporters()[name], [RUN])


def test_the_page_about_adding_an_exporter_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package keeps the contract, by its own check; its table has every law."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "add-an-exporter.md").read_text("utf-8")
    package, check = re.findall(r"^```python[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    module = types.ModuleType("steno_csv")
    exec(package, module.__dict__)
    monkeypatch.setitem(sys.modules, "steno_csv", module)
    exec(check, {})
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [law.name for law in EXPORTER_LAWS]
    (line,) = b"".join(module.EXPORTER(make_run("One, two"), LossReport("csv"))).splitlines()
    assert line.startswith(b"user,2026-01-01T")
    assert line.endswith(b',"One, two",')


@pytest.mark.scale
@pytest.mark.parametrize("name", exporters())
def test_our_exporters_keep_the_contract_on_real_transcripts(name: str) -> None:
    """And on the odd ones made of them."""
    cases = CASES[::90] if name == "parquet" else CASES[::15]
    check_exporter(exporters()[name], [run_of(case) for case in cases if len(run_of(case)) < 400])
