"""The configuration: one file, variables that win over it, and what is said of mistakes."""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph import config, start_run
from stenograph.cli.hook_call import storage
from stenograph.errors import InvalidConfig
from stenograph.journal.place import archive_home, recording_root, storage_root
from stenograph.query.prices import load_prices

REPO = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration that says nothing yet, and no variable that says anything else."""
    path = tmp_path / "settings" / "config.toml"
    path.parent.mkdir()
    path.write_text("", "utf-8")
    monkeypatch.setenv(config.VARIABLE, str(path))
    for key in config.KEYS:
        monkeypatch.delenv(key.variable, raising=False)
    return path


def test_the_file_says_where_things_are(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is seen from the file, a home folder is the user's; hooks record where everybody else does."""
    monkeypatch.setenv("HOME", "/home/someone")
    file.write_text('[archive]\nhome = "../kept"\nstorage = "~/runs"\n', "utf-8")
    assert archive_home() == file.parent / "../kept"
    assert storage_root() == recording_root() == storage() == Path("/home/someone/runs")
    assert storage_root("elsewhere") == Path("elsewhere")
    file.write_text('[archive]\nhome = "/kept"\n', "utf-8")
    assert recording_root() == storage() == Path("/kept")


def test_a_run_is_recorded_where_the_file_says(file: Path, tmp_path: Path) -> None:
    """The Python API asks the same configuration as the commands."""
    file.write_text(f'[archive]\nstorage = "{tmp_path / "here"}"\n', "utf-8")
    with start_run("x") as run:
        run.user("hi")
    assert run.path.parent == tmp_path / "here" / "transcripts"


def test_a_variable_wins_over_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And an empty one counts as not set."""
    file.write_text('[archive]\nhome = "/of/the/file"\n', "utf-8")
    monkeypatch.setenv("STENOGRAPH_HOME", "/of/the/environment")
    assert archive_home() == Path("/of/the/environment")
    monkeypatch.setenv("STENOGRAPH_HOME", "")
    assert archive_home() == Path("/of/the/file")


def test_prices_of_ones_own(file: Path) -> None:
    """A file of prices that the configuration names is read, and one that is given wins over it."""
    own = file.with_name("own.json")
    own.write_text(json.dumps({"models": {"mine": {"input": 1, "output": 2}}, "date": "2026-01-01"}), "utf-8")
    file.write_text('[prices]\nfile = "own.json"\n', "utf-8")
    assert load_prices().date == "2026-01-01"


def test_lists_and_flags(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As TOML has them in the file, with commas and words in a variable."""
    file.write_text('[redact]\nnames = ["pin", "tan"]\nwarn = true\n', "utf-8")
    assert (config.value("redact.names"), config.value("redact.warn")) == (("pin", "tan"), True)
    monkeypatch.setenv("STENOGRAPH_REDACT_NAMES", "puk, iban,")
    monkeypatch.setenv("STENOGRAPH_REDACT_WARN", "No")
    assert (config.value("redact.names"), config.value("redact.warn")) == (("puk", "iban"), False)
    assert config.value("redact.keep") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[archve]\n", "unknown section [archve]; known sections: archive, keep,"),
        ('[archive]\nhom = "x"\n', "unknown key archive.hom; keys of [archive]: home, storage, texts"),
        ("[serve]\nport = 1\n", "unknown key serve.port; [serve] has no key yet"),
        ("[archive]\nhome = 3\n", "archive.home is 3; it must be a text"),
        ('[archive]\nhome = ""\n', "archive.home is ''; it must be a text"),
        ('[redact]\nwarn = "yes"\n', "redact.warn is 'yes'; it must be true or false"),
        ('[redact]\nnames = "pin"\n', "redact.names is 'pin'; it must be a list of texts"),
        ("[redact]\nnames = [1]\n", "redact.names is [1]; it must be a list of texts"),
        ("archive = 1\n", "archive is not a table; write [archive] above its keys"),
        ("[archive\n", "is not TOML: "),
    ],
)
def test_a_mistake_is_named_in_one_line(file: Path, text: str, words: str) -> None:
    """Which file, which key, what it must be; whatever key was asked for."""
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidConfig) as caught:
        config.value("prices.file")
    message = str(caught.value)
    assert words in message
    assert str(file) in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    """One that is no text, one that is a folder, one that a variable names and that is not there."""
    file.write_bytes(b"\xff")
    with pytest.raises(InvalidConfig, match="is not TOML"):
        config.read()
    file.unlink()
    with pytest.raises(InvalidConfig, match=r"there is no file .*, which \$STENOGRAPH_CONFIG names"):
        config.read()
    file.mkdir()
    with pytest.raises(InvalidConfig, match="cannot read"):
        config.read()


def test_a_flag_that_is_none_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a variable."""
    monkeypatch.setenv("STENOGRAPH_REDACT_WARN", "perhaps")
    with pytest.raises(InvalidConfig, match=r"\$STENOGRAPH_REDACT_WARN is 'perhaps'; it must be true or false"):
        config.value("redact.warn")


def test_without_a_file_nothing_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the folder of the system, where nobody need have made one."""
    monkeypatch.delenv(config.VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config.config_path() == tmp_path / "stenograph" / "config.toml"
    assert config.read() == {}


def test_a_hook_passes_a_broken_configuration_over(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The session is recorded where it is without one, and the log of problems says why."""
    file.write_text("[archive\n", "utf-8")
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "home"))
    assert storage() == tmp_path / "home"
    problems = (tmp_path / "home" / "collectors" / "problems.log").read_text("utf-8")
    assert "the configuration was ignored" in problems
    assert str(file) in problems


@given(st.binary(max_size=60))
def test_any_bytes_are_a_configuration_or_a_mistake(data: bytes) -> None:
    """Nothing but our own exception."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "config.toml"
        path.write_bytes(data)
        patch.setenv(config.VARIABLE, str(path))
        with suppress(InvalidConfig):
            assert set(config.read()) <= {key.name for key in config.KEYS}


def test_every_key_is_documented() -> None:
    """The page lists the keys that the code has, with their variables and options, and no others."""
    page = (REPO / "docs" / "reference" / "configuration.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+\.\w+)` \| ([^|]+) \| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE)
    kinds = {"path": "a path", "texts": "a list of texts", "flag": "`true` or `false`"}
    expected = [
        (key.name, kinds[key.kind], key.variable, f"`{key.option}`" if key.option else "-") for key in config.KEYS
    ]
    assert rows == expected
    assert all(f"`[{section}]`" in page or f"[[{section}]]" in page for section in config.SECTIONS)
    kept = page.partition("## How long runs are kept")[2]
    assert re.findall(r"^\| `(\w+)` \|", kept, re.MULTILINE) == list(config.KeepRule._fields)
