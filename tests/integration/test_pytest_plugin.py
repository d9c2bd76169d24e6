"""The pytest plugin, in test sessions of its own."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from golden_cases import FOLDER
from model_server import Turn, model_server
from stenograph.bundle import DebugBundle
from stenograph.model import encode
from stenograph.pytest_plugin.failure import file_name
from stenograph.testing import answer, call, make_run

pytest_plugins = ["pytester"]

RECORDING = make_run(
    "How warm is it?",
    answer("", call("thermometer", {"unit": "C"}, "21", call_id="c1")),
    answer("It is 21 degrees."),
)
ASKING = """
import json, os, urllib.request

def ask(*messages):
    body = json.dumps({"model": "m", "messages": list(messages), "tools": [{"name": "thermometer"}]}).encode()
    with urllib.request.urlopen(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body) as reply:
        return json.load(reply)["content"]

def talk(prompt="How warm is it?", reading="21"):
    asked = {"role": "user", "content": prompt}
    (wish,) = ask(asked)
    result = {"type": "tool_result", "tool_use_id": wish["id"], "content": reading}
    return ask(asked, {"role": "assistant", "content": [wish]}, {"role": "user", "content": [result]})[0]["text"]
"""


@pytest.fixture
def place(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder for tests, with a recording and a program that asks its model."""
    pytester.makepyfile(asking=ASKING)
    recording = b"".join(encode(event) + b"\n" for event in RECORDING)
    (pytester.path / "recording.jsonl").write_bytes(recording)
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers\n")
    return pytester


def test_a_run_for_each_test(place: pytest.Pytester) -> None:
    """What was recorded can be asked: calls by tool and arguments, the last answer, the events."""
    place.makepyfile(
        r"""
        def test_calls(steno_run):
            run = steno_run.run
            run.user("List the files.")
            with run.tool("Bash", {"command": "ls -la", "timeout": 3}) as tool:
                tool.output = "a.txt"
            with run.tool("Bash", {"command": "cat a.txt"}) as tool:
                tool.output = "x"
            run.assistant("There is one.")
            assert [call["output"] for call in steno_run.calls("Bash", command=r"^ls")] == ["a.txt"]
            assert steno_run.calls("Bash", timeout="3")[0]["input"]["command"] == "ls -la"
            assert len(steno_run.calls()) == 2
            assert steno_run.calls("Read") == steno_run.calls("Bash", path=".") == []
            assert steno_run.answer == "There is one."
            assert steno_run.events[0].payload.name.endswith("::test_calls")

        def test_another_run(steno_run):
            assert len(steno_run.events) == 1
            assert steno_run.answer == ""
        """
    )
    place.runpytest().assert_outcomes(passed=2)


def test_an_agents_own_file_is_read(place: pytest.Pytester) -> None:
    """One API for what every agent wrote."""
    session = FOLDER / "claude_code" / "2.1.325-basic" / "input.jsonl"
    place.makepyfile(
        f"""
        def test_session(steno_run):
            steno_run.read({str(session)!r})
            assert [call["name"] for call in steno_run.calls()] == ["Bash", "Read", "Write", "Edit"]
            assert steno_run.calls("Write", file_path=r"\\.txt$")
            assert steno_run.answer == "Done: ran, read, wrote and edited."
        """
    )
    place.runpytest().assert_outcomes(passed=1)


FAILING = """
    import pytest

    @pytest.mark.parametrize("what", ["a/b", "日本"])
    def test_fails(steno_run, what):
        steno_run.run.user("Please.")
        assert steno_run.calls("Bash") != []

    @pytest.fixture
    def broken(steno_run):
        raise RuntimeError("no database")

    def test_setup(steno_run, broken):
        pass

    def test_good(steno_run):
        pass
"""


def test_a_failing_test_leaves_a_bundle_and_a_page(place: pytest.Pytester) -> None:
    """Named in the output and in JUnit XML; the run in them has ended, with the error; a good test leaves nothing."""
    place.makepyfile(FAILING)
    done = place.runpytest("--junitxml=junit.xml", "--steno-dir=kept")
    done.assert_outcomes(failed=2, passed=1, errors=1)
    done.stdout.fnmatch_lines(["*stenograph*", "bundle: *kept*.zip", "page: *kept*.html"])
    bundles = sorted((place.path / "kept").glob("*.zip"))
    assert len(bundles) == len(list((place.path / "kept").glob("*.html"))) == 3
    for bundle in bundles:
        ended = DebugBundle.load(bundle).events[-1]
        assert ended.type == "run.completed"
        assert ended.payload.error
    cases = ET.parse(place.path / "junit.xml").getroot().iter("testcase")
    told = {case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")} for case in cases}
    assert told.pop("test_good") == {}
    named = [properties["stenograph_bundle"] for properties in told.values()]
    assert sorted(named) == [str(path) for path in bundles]
    assert all(Path(str(properties["stenograph_page"])).is_file() for properties in told.values())


def test_keeping_a_run_never_fails_a_test(place: pytest.Pytester) -> None:
    """A folder that cannot be written is told, and the test fails for its own reason alone."""
    (place.path / "kept").write_text("a file")
    place.makepyfile(FAILING)
    done = place.runpytest("--steno-dir=kept")
    done.assert_outcomes(failed=2, passed=1, errors=1)
    done.stdout.fnmatch_lines(["the run of this test could not be kept: *"])


def test_names_of_files_are_plain_short_and_different() -> None:
    """Whatever a test is called."""
    names = [
        file_name(f"tests/test_x.py::test_{each}") for each in ("a/b", "a-b", "x" * 300, "x" * 301, "日本", "日木")
    ]
    assert len(set(names)) == len(names)
    assert all(len(name) < 100 and name.isascii() and "/" not in name for name in names)


def test_a_recorded_model_answers(place: pytest.Pytester) -> None:
    """The marker names the recording beside the test; the environment leads to it."""
    place.makepyfile(
        """
        import os
        import pytest
        from asking import talk

        @pytest.mark.steno("recording.jsonl")
        def test_warm(steno_replay):
            assert os.environ["OPENAI_BASE_URL"] == steno_replay.openai_url
            assert talk() == "It is 21 degrees."
            assert steno_replay.report.is_equal()
            assert not steno_replay.is_recording

        def test_environment():
            assert "ANTHROPIC_BASE_URL" not in os.environ
        """
    )
    place.runpytest().assert_outcomes(passed=2)


def test_a_divergence_fails_the_test(place: pytest.Pytester) -> None:
    """A failure, not an error beside a passed test: a miss, turns that were not asked for, another result."""
    place.makepyfile(
        """
        import contextlib, urllib.error
        import pytest
        from asking import ask, talk

        pytestmark = pytest.mark.steno("recording.jsonl")

        def test_miss(steno_replay):
            talk()
            with contextlib.suppress(urllib.error.HTTPError):
                talk("How cold is it?")

        def test_unasked(steno_replay):
            ask({"role": "user", "content": "How warm is it?"})

        def test_result(steno_replay):
            talk(reading="-3")

        @pytest.mark.steno("recording.jsonl", allow_diff=True)
        def test_allowed(steno_replay):
            talk(reading="-3")

        @pytest.mark.steno("recording.jsonl", ignore=["-?[0-9]+"])
        def test_ignored(steno_replay):
            talk(reading="-3")
        """
    )
    done = place.runpytest()
    done.assert_outcomes(failed=3, passed=2)
    done.stdout.fnmatch_lines(
        [
            '*miss: no recorded prompt matches "How cold is it[?]"; the nearest is "How warm is it[?]"*',
            "*1 of 2 served, 1 not asked for",
            "*different: thermometer (turn 1 of main)",
        ]
    )


def test_mistakes_are_told(place: pytest.Pytester) -> None:
    """A recording that is not there, and a test without a marker."""
    place.makepyfile(
        """
        import pytest

        @pytest.mark.steno("missing.jsonl")
        def test_missing(steno_replay):
            pass

        def test_unmarked(steno_replay):
            pass
        """
    )
    done = place.runpytest()
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*there is no recording *missing.jsonl; run pytest --steno-record once to make it"])
    done.stdout.fnmatch_lines(['*steno_replay needs @pytest.mark.steno("recording.jsonl")'])


RECORDED = """
    import json, os, urllib.request
    import pytest

    def ask(stream):
        body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}
        address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        with urllib.request.urlopen(address, json.dumps(body).encode()) as reply:
            return reply.read().decode()

    @pytest.mark.steno("recordings/whole.jsonl")
    def test_whole(steno_replay):
        assert json.loads(ask(False))["choices"][0]["message"]["content"] == "Hi there"

    @pytest.mark.steno("recordings/streamed.jsonl")
    def test_streamed(steno_replay):
        pieces = [json.loads(line[6:]) for line in ask(True).splitlines() if line.startswith("data: {")]
        deltas = [each["choices"][0]["delta"].get("content") or "" for each in pieces if each["choices"]]
        assert "".join(deltas) == "Hi there"

    @pytest.mark.steno("recordings/bad.jsonl")
    def test_bad(steno_replay):
        ask(False)
        assert not steno_replay.is_recording, "a bad test"
"""


def test_recordings_are_made_once_anew_or_not_at_all(place: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """`once` asks the real model where nothing is recorded, `all` always, `none` never; a failed test keeps nothing."""
    place.makepyfile(RECORDED)
    place.runpytest().assert_outcomes(errors=3)
    with model_server(script=lambda body: Turn(text="Hi there")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-user")
        place.runpytest("--steno-record=once").assert_outcomes(passed=2, failed=1)
        assert len(model.bodies) == 3
        place.runpytest("--steno-record=once", "-k", "not bad").assert_outcomes(passed=2)
        assert len(model.bodies) == 3, "what is recorded is not asked again"
        place.runpytest("--steno-record=all", "-k", "not bad").assert_outcomes(passed=2)
        assert len(model.bodies) == 5
    files = sorted((place.path / "recordings").iterdir())
    assert [path.name for path in files] == ["streamed.jsonl", "whole.jsonl"]
    assert not any(b"sk-secret-of-the-user" in path.read_bytes() for path in files)
    place.runpytest("-k", "not bad").assert_outcomes(passed=2)


@pytest.mark.scale
def test_it_works_with_several_workers(place: pytest.Pytester) -> None:
    """Under xdist each worker has its own servers and runs; bundles and properties arrive."""
    place.makepyfile(
        test_one=FAILING,
        test_two="""
        import pytest
        from asking import talk

        @pytest.mark.steno("recording.jsonl")
        @pytest.mark.parametrize("number", range(4))
        def test_warm(steno_replay, number):
            assert talk() == "It is 21 degrees."

        @pytest.mark.steno("recording.jsonl")
        def test_other(steno_replay):
            talk(reading="-3")
        """,
    )
    done = place.runpytest_subprocess("-n", "2", "--junitxml=junit.xml")
    done.assert_outcomes(passed=5, failed=3, errors=1)
    assert len(list((place.path / "steno-failures").glob("*.zip"))) == 3
    properties = ET.parse(place.path / "junit.xml").getroot().iter("property")
    assert sum(each.get("name") == "stenograph_bundle" for each in properties) == 3


def test_unused_it_costs_nothing() -> None:
    """Loading the plugin loads nothing else of ours."""
    program = (
        "import sys, pytest, stenograph.pytest_plugin\n"
        "print(sorted(name for name in sys.modules if name.startswith('stenograph')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(
        ["stenograph", "stenograph.lazy", "stenograph.pytest_plugin", "stenograph.version"]
    )
