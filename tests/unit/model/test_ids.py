"""Run ids and derived ids."""

from __future__ import annotations

from uuid import UUID, uuid1, uuid3, uuid4, uuid5

import pytest
from hypothesis import given

from stenograph.errors import InvalidEvent, InvalidRunId
from stenograph.model.ids import check_run_id, entry_id
from strategies import wild_texts

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    "value",
    [uuid1(), uuid3(UUID(RUN_ID), "x"), uuid4(), uuid5(UUID(RUN_ID), "x"), UUID(int=0), UUID(int=2**128 - 1)],
    ids=["v1", "v3", "v4", "v5", "nil", "max"],
)
def test_a_uuid_of_any_version_is_a_run_id(value: UUID) -> None:
    """An agent's own UUID is kept, given as UUID or as text."""
    assert check_run_id(value) == check_run_id(str(value)) == str(value)


def test_a_run_id_is_canonical() -> None:
    """Upper case is accepted and written in lower case, so one run has one file."""
    assert check_run_id(RUN_ID.upper()) == RUN_ID
    assert check_run_id("550E8400-e29b-41d4-A716-446655440000") == RUN_ID


@pytest.mark.parametrize(
    "value",
    [
        "",
        "../" + RUN_ID,
        RUN_ID + "/../x",
        "../../../../../etc/passwd",
        "..\\..\\550e8400-e29b-41d4-a716-44665544",
        RUN_ID + "\x00",
        "\x00" + RUN_ID[1:],
        RUN_ID + "\n",
        "\n" + RUN_ID,
        " " + RUN_ID,
        RUN_ID + ".jsonl",
        RUN_ID.replace("-", ""),
        "{" + RUN_ID + "}",
        "urn:uuid:" + RUN_ID,
        RUN_ID.replace("5", "٥"),
        RUN_ID.replace("5", "５"),
        RUN_ID.replace("e", "é"),
        RUN_ID.replace("-", "‐"),
        RUN_ID[:-1],
        RUN_ID + "0",
        "g" + RUN_ID[1:],
        "\ud800" + RUN_ID[1:],
        None,
        5,
        b"550e8400-e29b-41d4-a716-446655440000",
        ["x"],
    ],
    ids=ascii,
)
def test_anything_but_a_uuid_is_refused(value: object) -> None:
    """No path, no suffix, no other digits and no other spelling gets into a file name; the error keeps the value."""
    with pytest.raises(InvalidRunId, match=r"is not a run id; give a UUID such as 550e8400-") as caught:
        check_run_id(value)
    assert caught.value.value is value


def test_an_invalid_run_id_is_a_value_error() -> None:
    """A caller who tries the builtin first catches it; a long one is cut in the message."""
    with pytest.raises(ValueError) as caught:
        check_run_id("x" * 10_000)
    assert isinstance(caught.value, InvalidEvent)
    assert len(str(caught.value)) < 200


def test_an_entry_id_depends_on_run_source_and_place() -> None:
    """The same three give the same id in every version of ours; any other gives another."""
    made = entry_id("r-1", "main", "1")
    assert made == entry_id("r-1", "main", "1") == UUID("b7801847-b543-572d-add3-4c8f7cecdc0d")
    others = {entry_id("r-2", "main", "1"), entry_id("r-1", "subagent:a", "1"), entry_id("r-1", "main", "2")}
    assert len(others | {made}) == 4


def test_an_entry_id_takes_any_text() -> None:
    """Ids from broken sources may hold lone surrogates and still identify."""
    assert entry_id("\ud800", "main", "\ud800") != entry_id("\ud801", "main", "\ud800")


@given(wild_texts, wild_texts, wild_texts)
def test_an_entry_id_is_a_uuid_of_its_facts(run_id: str, source: str, place: str) -> None:
    """It is what any program makes of the same name, in the same namespace."""
    name = f"{run_id}\n{source}\n{place}".encode("utf-8", "backslashreplace").decode()
    assert entry_id(run_id, source, place) == uuid5(UUID("6d1f3a52-5f43-5a0e-9d5c-0f8b8a6d9c11"), name)
