"""Every golden file against every format: each is claimed by its own, more surely than by any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden_cases import CASES, files_of, name_of
from stenograph.formats.registry import HEAD_BYTES, formats, head_records
from stenograph.sources.detection import detect_file

SPECS = formats()
DOCUMENTS = [case for case in CASES if SPECS[case.parent.name].kind == "document"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_no_other_format_is_as_sure_of_a_golden_case(case: Path) -> None:
    """By the beginning of each file, with its path and without; nothing is left to priority or chance."""
    for path in files_of(case):
        records = head_records(path.read_bytes()[:HEAD_BYTES])
        for name in (str(path), ""):
            scores = {spec.name: spec.detect(records, name) for spec in SPECS.values()}
            own = scores.pop(case.parent.name)
            assert own > max(scores.values()), scores


@pytest.mark.parametrize("case", DOCUMENTS, ids=name_of)
def test_a_document_is_known_however_it_is_broken_into_lines(case: Path, tmp_path: Path) -> None:
    """On one line without its end, and over many; lines of records as the list that their program writes."""
    for path in files_of(case):
        values = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        value = values[0] if len(values) == 1 else values
        for indent in (None, 2):
            copy = tmp_path / f"{indent}.json"
            copy.write_text(json.dumps(value, indent=indent))
            found = detect_file(copy)
            assert found.spec is not None, case
            assert found.spec.name == case.parent.name


LINES = [case for case in CASES if SPECS[case.parent.name].kind == "file" and SPECS[case.parent.name].text is None]


@pytest.mark.parametrize("case", LINES, ids=name_of)
def test_a_new_version_of_an_agent_is_known(case: Path) -> None:
    """A record of a type that nobody has seen among the first ones, and a new field in each, hide no session."""
    for path in files_of(case):
        first, *others = head_records(path.read_bytes()[:HEAD_BYTES])
        if len(others) < 3 or not isinstance(others[0], dict):
            continue
        new = {**others[0], "type": "unheard-of"} if "type" in others[0] else {"unheard": "of"}
        for records in ([first, new, *others], [{**each, "unheard": {"of": 1}} for each in (first, *others)]):
            scores = {spec.name: spec.detect(records, str(path)) for spec in SPECS.values()}
            own = scores.pop(case.parent.name)
            assert own > max(scores.values()), scores
