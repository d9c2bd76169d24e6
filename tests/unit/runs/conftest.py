"""What tests of the readers share: one run in every kind in which it can be opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from run_kinds import KINDS, make_kinds
from stenograph import RunReader, open_run


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same run as every kind."""
    return make_kinds(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(params=KINDS)
def run(kinds: dict[str, Path], request: pytest.FixtureRequest) -> Iterator[RunReader]:
    """The run, opened as each kind."""
    archive = kinds["archive"] if request.param == "archived" else None
    with open_run(kinds[request.param], archive=archive, root=kinds["home"]) as opened:
        yield opened
