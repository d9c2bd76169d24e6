"""`steno_replay`: the recorded answers of a model for one test, or the recording of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stenograph.atomic_file import write_atomically
from stenograph.replay.loading import load_recording
from stenograph.replay.program import environment_for
from stenograph.replay.recording_server import Upstreams, WireLog, recording
from stenograph.replay.server import serving
from stenograph.replay.session import ReplaySession

if TYPE_CHECKING:
    from stenograph.replay.report import ReplayReport

_ADDRESSES = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "NO_PROXY", "no_proxy")
"""The variables that are set while recording; API keys stay those of the user, since a real model is asked."""


class ReplayForTest:
    """The model of a test: its address, and what happened."""

    def __init__(
        self,
        url: str,
        path: Path,
        environment: dict[str, str],
        session: ReplaySession | None = None,
        wire_log: WireLog | None = None,
        *,
        allow_diff: bool = False,
    ) -> None:
        """With a session, answers are replayed; with a log, they are recorded."""
        self.url = url
        """The address of the Anthropic API."""
        self.openai_url = f"{url}/v1"
        """The address of the OpenAI APIs."""
        self.path = path
        """The recording."""
        self.environment = environment
        """The variables that direct the usual SDKs and agents here; they are set while the test runs."""
        self._session = session
        self._wire_log = wire_log
        self._allow_diff = allow_diff

    @property
    def is_recording(self) -> bool:
        """Whether requests go to the real model, and its answers are recorded."""
        return self._session is None

    @property
    def report(self) -> ReplayReport | None:
        """What happened so far; None while recording."""
        return None if self._session is None else self._session.report()

    def difference(self) -> str:
        """How the run differed from the recording; empty when it did not."""
        report = self.report
        if report is None or report.is_equal(allow_diff=self._allow_diff):
            return ""
        return "\n".join([f"{self.path}:", *report.lines()])

    def keep(self, *, is_good: bool) -> None:
        """Keep the recording, unless the test failed."""
        if self._wire_log is not None and is_good and self._wire_log.calls:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, [self._wire_log.written()])


@contextmanager
def opened(marker: pytest.Mark | None, folder: Path, mode: str) -> Iterator[ReplayForTest]:
    """The model of a test. Its marker names the recording; `mode` says when to record.

    `none`: never, and a missing recording fails the test; `once`: if it is missing; `all`: every time.
    """
    if marker is None or not marker.args:
        raise pytest.UsageError('steno_replay needs @pytest.mark.steno("recording.jsonl")')
    path = folder / os.fspath(marker.args[0])
    if mode == "all" or (mode == "once" and not path.exists()):
        with _recorded(path) as found:
            yield found
        return
    if not path.exists():
        pytest.fail(f"there is no recording {path}; run pytest --steno-record once to make it", pytrace=False)
    options = marker.kwargs
    session = ReplaySession(load_recording(path), dict(options.get("folders", {})), tuple(options.get("ignore", ())))
    with serving(session) as url:
        environment = _changed(environment_for(url, os.environ))
        yield ReplayForTest(url, path, environment, session, allow_diff=bool(options.get("allow_diff", False)))


@contextmanager
def _recorded(path: Path) -> Iterator[ReplayForTest]:
    usual = Upstreams()
    upstreams = Upstreams(
        anthropic=os.environ.get("ANTHROPIC_BASE_URL") or usual.anthropic,
        openai=os.environ.get("OPENAI_BASE_URL") or usual.openai,
    )
    log = WireLog()
    with recording(log, upstreams) as url:
        environment = environment_for(url, os.environ)
        yield ReplayForTest(url, path, {name: environment[name] for name in _ADDRESSES}, wire_log=log)


def _changed(environment: dict[str, str]) -> dict[str, str]:
    """The variables that differ from those of this process."""
    return {name: value for name, value in environment.items() if os.environ.get(name) != value}
