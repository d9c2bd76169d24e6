"""`steno install` for agents that have hooks, a program for each turn, or plugins."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stenograph.cli.installing.notify import install_notify
from stenograph.cli.installing.settings_file import our_program
from stenograph.cli.installing.ways import agents_that_call, ways_of
from stenograph.formats.base import FormatSpec
from stenograph.formats.codex_rollout import SPEC as WITH_NOTIFY
from stenograph.formats.registry import formats
from stenograph.sources.layouts import placed_formats
from strategies import examples

Steno = Callable[..., Any]
AGENTS = sorted(agents_that_call())


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, in which every agent has its settings at their usual places."""
    variables = {home.variable for spec in formats().values() for home in _homes(spec)}
    for name in variables - {""}:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    return tmp_path


def _homes(spec: FormatSpec) -> list[Any]:
    homes = [way.file(spec) for way in ways_of(spec)]
    return [*homes, *(spec.layout.homes if spec.layout is not None else ())]


def _files(home: Path) -> dict[str, bytes]:
    """Everything below the home, copies of older settings left out."""
    found = [path for path in home.rglob("*") if path.is_file() and path.suffix != ".bak"]
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


@pytest.mark.parametrize("agent", AGENTS)
def test_it_is_installed_once_and_removed_whole(steno: Steno, home: Path, agent: str) -> None:
    """Every file names our program; twice is once; after `--remove` no file calls us any more."""
    done = steno("install", agent, "--json").json
    changes = [done, *done["also"]]
    assert all(change["added"] for change in changes)
    installed = _files(home)
    assert set(installed) == {str(Path(change["settings"]).relative_to(home)) for change in changes}
    assert all(our_program()[0].encode() in data and agent.encode() in data for data in installed.values())
    assert "nothing to change" in steno("install", agent).out
    assert _files(home) == installed
    assert steno("install", agent, "--remove").code == 0
    assert all(our_program()[0].encode() not in data for data in _files(home).values())
    assert "nothing to change" in steno("install", agent, "--remove").out


@pytest.mark.parametrize("agent", AGENTS)
def test_the_doctor_and_the_list_know_it(steno: Steno, home: Path, agent: str) -> None:
    """Installed, then with a program that is gone, then with a file of an older version."""
    done = steno("install", agent, "--json").json
    (row,) = [row for row in steno("install", "--list", "--json").json if row["agent"] == agent]
    assert (row["recorded_by"], row["problem"]) == ("install", None)
    assert row["called_by"] == row["can_call"]
    assert [each for each in steno("doctor", "--json").json["findings"] if each["kind"] == "hooks"] == []
    for change in (done, *done["also"]):
        path = Path(change["settings"])
        path.write_text(path.read_text("utf-8").replace(our_program()[0], "/nowhere/steno"), "utf-8")
    (row,) = [row for row in steno("install", "--list", "--json").json if row["agent"] == agent]
    assert (row["recorded_by"], row["called_by"]) == (None, [])
    assert "/nowhere/steno, which does not exist any more" in row["problem"]
    found = [each["message"] for each in steno("doctor", "--json").json["findings"] if each["kind"] == "hooks"]
    assert len(found) == len(ways_of(agents_that_call()[agent]))
    assert all(f"run: steno install {agent}" in message for message in found)
    steno("install", agent)
    assert [each for each in steno("doctor", "--json").json["findings"] if each["kind"] == "hooks"] == []


def _with(way: str) -> list[str]:
    return [name for name, spec in agents_that_call().items() if any(each.name == way for each in ways_of(spec))]


@pytest.mark.parametrize("agent", _with("plugin"))
def test_a_plugin_of_somebody_else_is_left_alone(steno: Steno, home: Path, agent: str) -> None:
    """A file of our name that we did not write is neither replaced nor deleted."""
    path = Path(steno("install", agent, "--json").json["settings"])
    path.write_text("export default 1;\n", "utf-8")
    for options in ([], ["--remove"]):
        done = steno("install", agent, *options)
        assert (done.code, done.out) == (3, "")
        assert "it is not a file of ours" in done.err
        assert done.err.count("\n") == 1
    assert path.read_text("utf-8") == "export default 1;\n"


@pytest.mark.parametrize("agent", _with("plugin"))
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_a_plugin_is_a_module_that_says_nothing(steno: Steno, home: Path, agent: str) -> None:
    """Node takes it, and where our program is gone it neither prints nor fails."""
    path = Path(steno("install", agent, "--json").json["settings"])
    module = home / "module.mjs"
    module.write_text(path.read_text("utf-8").replace(our_program()[0], "/nowhere/steno"), "utf-8")
    script = home / "calling.mjs"
    script.write_text(_CALLING, "utf-8")
    done = subprocess.run([str(shutil.which("node")), str(script), str(module)], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"called\n", b"")


_CALLING = """
import { pathToFileURL } from "node:url";
const module = await import(pathToFileURL(process.argv[2]));
const context = { sessionManager: { getSessionFile: () => "/x/session.jsonl" } };
if (module.default) {
  const calls = [];
  module.default({ on: (name, call) => calls.push([name, call]) });
  for (const [name, call] of calls) await call({ type: name }, context);
} else {
  const hooks = await module.Stenograph({});
  await hooks["chat.message"]({}, {});
  for (const type of ["session.created", "session.idle", "other"]) await hooks.event({ event: { type } });
}
await new Promise((done) => setTimeout(done, 200));
console.log("called");
"""


@pytest.mark.parametrize("agent", _with("notify"))
def test_a_program_of_somebody_else_is_left_alone(steno: Steno, home: Path, agent: str) -> None:
    """The hooks are installed all the same, and a line says that the other one stays."""
    spec = agents_that_call()[agent]
    assert spec.notify is not None
    path = Path(spec.notify.settings.path(os.environ, str(home)))
    path.parent.mkdir(parents=True)
    path.write_text('notify = ["beep"]\n', "utf-8")
    done = steno("install", agent)
    assert done.code == 0
    assert f"notify in {path} calls another program and was not changed" in done.err
    steno("install", agent, "--remove")
    assert path.read_text("utf-8") == 'notify = ["beep"]\n'


_names = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=6).filter(
    lambda x: x != "notify"
)
_lines = st.lists(st.one_of(_names.map(lambda name: f"# {name}"), st.just("")), max_size=3)
_tables = st.dictionaries(_names, st.integers(0, 9), max_size=3)


@settings(examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(comments=_lines, plain=_tables, table=_tables, ends=st.sampled_from(["\n", "\r\n"]))
def test_any_toml_survives(
    tmp_path: Path, comments: list[str], plain: dict[str, int], table: dict[str, int], ends: str
) -> None:
    """Comments, order and line ends stay; after removing, every byte is what it was."""
    path = tmp_path / "config.toml"
    lines = [*comments, *(f"{name} = {value}" for name, value in plain.items()), "", "[a_table]"]
    text = ends.join([*lines, *(f"{name} = {value}" for name, value in table.items()), ""])
    path.write_bytes(text.encode())
    install_notify(WITH_NOTIFY, path, remove=False)
    after = path.read_bytes().decode()
    assert after.endswith(text)
    assert tomllib.loads(after) == {"notify": tomllib.loads(after)["notify"], **tomllib.loads(text)}
    install_notify(WITH_NOTIFY, path, remove=True)
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize(
    "text", ["notify = [\n  'steno', 'hook', 'codex', 'thread-id',\n]\n", "not toml = = \n", "notify = 3\n[x"]
)
def test_toml_that_cannot_be_changed_safely_is_left_alone(steno: Steno, home: Path, text: str) -> None:
    """One line says why, and the file is as it was."""
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    done = steno("install", "codex", "--remove")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert path.read_text("utf-8") == text


def test_an_agent_without_a_way_to_call_us_is_recorded_by_watching(steno: Steno, home: Path) -> None:
    """The list has the agents that are found here, and says what would record each."""
    (home / ".copilot" / "session-state").mkdir(parents=True)
    rows = steno("install", "--list", "--json").json
    assert [row["agent"] for row in rows] == ["copilot"]
    assert (rows[0]["is_found"], rows[0]["can_call"], rows[0]["recorded_by"]) == (True, [], None)
    assert rows[0]["advice"] == "steno watch --agent copilot"
    done = steno("install", "--list")
    assert "copilot" in done.out
    assert "steno watch --agent copilot" in done.out


def test_settings_that_are_not_ours_to_read_are_not_a_problem(steno: Steno, home: Path) -> None:
    """JSON with comments, which an agent may take, is told when we are to change it, and by no doctor before."""
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text("{} // mine\n", "utf-8")
    assert [each for each in steno("doctor", "--json").json["findings"] if each["kind"] == "hooks"] == []
    done = steno("install", "gemini")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert path.read_text("utf-8") == "{} // mine\n"


def test_a_machine_without_agents_is_said(steno: Steno) -> None:
    """An empty list is one line."""
    done = steno("install", "--list")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("steno: no agent was found on this machine")
    assert steno("install", "--list", "--json").json == []


def test_what_makes_no_sense_is_refused(steno: Steno, home: Path) -> None:
    """No agent, a list of one agent, and one path for several files are wrong usage."""
    for words in (["install"], ["install", "--list", "codex"], ["install", "codex", "--settings", str(home / "x")]):
        done = steno(*words)
        assert (done.code, done.out) == (2, "")
    assert _files(home) == {}


def test_since_is_when_it_was_installed(steno: Steno, home: Path) -> None:
    """By the copy of the settings that has no hook of ours, or by our own file; else it is not known."""
    path = home / ".gemini" / "settings.json"
    steno("install", "gemini")
    assert _since(steno, "gemini") is None
    steno("install", "gemini", "--remove")
    path.write_text('{"a": 1}\n', "utf-8")
    steno("install", "gemini")
    assert str(_since(steno, "gemini")).startswith("20")
    steno("install", "opencode")
    assert str(_since(steno, "opencode")).startswith("20")


def _since(steno: Steno, agent: str) -> object:
    return next(row["since"] for row in steno("install", "--list", "--json").json if row["agent"] == agent)


def test_the_page_has_every_agent() -> None:
    """How each agent that we find on a machine is recorded live stands in one table."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "record-agents-live.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for spec in placed_formats():
        named = [row for row in rows if f"`{spec.agent.id}`" in row]
        assert spec.agent.id in ("otlp", "stenograph") or len(named) == 1, spec.agent.id
        for way in ways_of(spec):
            words = {"hooks": "hooks", "notify": "`notify`", "plugin": "a plugin"}[way.name]
            assert words in named[0] or "an extension" in named[0]
