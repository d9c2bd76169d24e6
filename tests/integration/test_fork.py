"""A host that forks while other threads of it record: the child goes on, and takes nothing of its parent's."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stenograph.adapters.capture import Capture
from stenograph.adapters.evaluations.model_wire import ModelWire
from stenograph.adapters.litellm.deliveries import Deliveries
from stenograph.adapters.outputs import Outputs
from stenograph.logs import TranscriptEmitter
from stenograph.session import Bus, JsonlSliceFactory, Session, SliceFactoryConfig, append_all
from stenograph.transcript import TranscriptEntry

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

pytestmark = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)  # that is the test


@dataclass(frozen=True)
class Value:
    """Something to dispatch."""

    text: str


def _forked(act: Callable[[], object]) -> int:
    """How a child ended that did this and nothing else; killed when it hangs."""
    pid = os.fork()
    if pid == 0:
        code = 1
        with suppress(BaseException):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the test's own timeout is not the child's
            signal.alarm(60)
            act()
            code = 0
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Held:
    """A thread that is in the middle of something for as long as the block lasts."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.is_in = threading.Event()
        self.may_go = threading.Event()
        self.owner = os.getpid()
        self._thread = threading.Thread(target=act)

    def wait(self, *_: object) -> None:
        """Called inside of what is to be held."""
        if os.getpid() == self.owner:
            self.is_in.set()
            self.may_go.wait(60)

    def __enter__(self) -> None:
        self._thread.start()
        assert self.is_in.wait(60)

    def __exit__(self, *_: object) -> None:
        self.may_go.set()
        self._thread.join(60)


def test_an_emitter_is_not_locked_in_a_child() -> None:
    """Its lock was held by a thread that the child does not have."""

    class Handler(logging.Handler):
        def createLock(self) -> None:
            self.lock = nullcontext()  # type: ignore[assignment]  # a child must not wait for this one

        def acquire(self) -> None:
            pass

        release = acquire

        def emit(self, record: logging.LogRecord) -> None:
            held.wait()

    logger = logging.Logger("forking", logging.DEBUG)
    logger.addHandler(Handler())
    emitter = TranscriptEmitter(prompt_name="p", adapter="a", logger=logger)
    capture = Capture(prompt_name="p", adapter="a", outputs=Outputs(logger=logger))
    held = Held(lambda: emitter.emit("user_message", content="parent"))
    with held:
        assert _forked(lambda: emitter.emit("user_message", content="child")) == 0
        assert _forked(capture.stop) == 0


def test_calls_of_a_parent_are_not_waited_for_in_a_child() -> None:
    """What LiteLLM was doing in the parent is delivered there; the child's own calls are told at once."""
    told: list[str] = []

    def tell(log: dict[str, Any]) -> None:
        told.append(log["id"])
        held.wait()

    deliveries = Deliveries(tell)
    held = Held(lambda: deliveries.delivered("parent", {"id": "parent"}))
    deliveries.began("early")
    deliveries.answered("early")
    deliveries.began("parent")

    def child() -> None:
        told.clear()
        deliveries.began("child")
        deliveries.answered("child")
        deliveries.delivered("child", {"id": "child"})
        assert told == ["child"]

    with held:
        assert _forked(child) == 0


def test_a_wire_is_not_locked_in_a_child() -> None:
    """A model may be called in a child while a thread of the parent calls it, too."""
    session = Session()
    held = Held(lambda: wire.asked("/v1/chat/completions", REQUEST))
    session.bus.subscribe(TranscriptEntry, held.wait)
    wire = ModelWire(Capture(prompt_name="p", adapter="openai", outputs=Outputs(session=session)), "openai_chat")
    with held:
        assert _forked(lambda: wire.asked("/v1/chat/completions", REQUEST)) == 0


@pytest.mark.parametrize("place", ["reducer", "subscriber"])
def test_a_session_is_not_locked_in_a_child(place: str) -> None:
    """Neither while a value is stored nor while it is published; what the parent publishes, the child does not."""
    bus = Bus()
    session = Session(bus)
    held = Held(lambda: session.dispatch(Value("parent")))

    def reducer(view: object, value: Value) -> object:
        if place == "reducer":
            held.wait()
        return append_all(view, value)  # type: ignore[arg-type]

    heard: list[str] = []
    if place == "subscriber":
        bus.subscribe(Value, held.wait)
    bus.subscribe(Value, lambda value: heard.append(value.text))
    session[Value].register(Value, reducer)  # type: ignore[arg-type]

    def child() -> None:
        session.dispatch(Value("child"))
        assert heard == ["child"]
        assert session[Value].latest() == Value("child")

    with held:
        assert _forked(child) == 0
    assert heard == ["parent"]


def test_a_child_waits_for_the_file_of_a_slice(tmp_path: Path) -> None:
    """The lock of a file is its parent's as long as the parent writes; the child has one of its own."""
    import fcntl

    config = SliceFactoryConfig(log_factory=JsonlSliceFactory(tmp_path), state_factory=JsonlSliceFactory(tmp_path))
    with Session(slice_config=config) as session:
        session.dispatch(Value("first"))
        fd = session[Value]._find()._file._fd  # type: ignore[attr-defined]
        fcntl.flock(fd, fcntl.LOCK_EX)  # as in the middle of a line

        def child() -> None:
            signal.alarm(1)
            session.dispatch(Value("child"))

        assert _forked(child) == -signal.SIGALRM
        fcntl.flock(fd, fcntl.LOCK_UN)
        assert _forked(lambda: session.dispatch(Value("child"))) == 0
        session.dispatch(Value("parent"))
        assert [value.text for value in session[Value].all()] == ["first", "child", "parent"]
