"""Devices and endless files are refused, whoever names them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from stenograph.cli.program import cli
from stenograph.errors import SourceError
from stenograph.sources.conversion import convert
from stenograph.sources.detection import LONGEST_FIRST_LINE, detect_file, format_named


@pytest.fixture(params=["/dev/zero", "link", "/dev/null"])
def device(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A device, and a link to one that has the name of a transcript."""
    if request.param != "link":
        return Path(request.param)
    (tmp_path / "session.jsonl").symlink_to("/dev/zero")
    return tmp_path / "session.jsonl"


def test_a_device_is_refused(device: Path) -> None:
    """To detect what it is, and to convert it, also when its format is given."""
    with pytest.raises(SourceError, match="a device, not a file"):
        detect_file(device)
    with pytest.raises(SourceError, match="a device, not a file"):
        convert(device, format_named("claude_code"))
    assert CliRunner().invoke(cli, ["detect", str(device)]).exit_code == 3
    for words in (["convert", str(device)], ["convert", str(device), "--from", "claude_code"]):
        assert CliRunner().invoke(cli, words).exit_code == 3


def test_no_more_than_a_first_line_is_read_of_an_endless_file(tmp_path: Path) -> None:
    """A sparse file of a terabyte is in no format we know, which its beginning tells."""
    path = tmp_path / "endless.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert detect_file(path).spec is None
    assert LONGEST_FIRST_LINE <= 1 << 26
    with pytest.raises(SourceError, match="not in a known format"):
        convert(path)
