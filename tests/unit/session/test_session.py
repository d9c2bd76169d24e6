"""Session: values by type, reducers, policies, snapshots, and who hears of it."""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import pytest

from stenograph.errors import InvalidEvent, StenographError, StoreClosed
from stenograph.session import (
    Append,
    Bus,
    MemorySliceFactory,
    PromptExecuted,
    PromptRendered,
    Replace,
    Session,
    SliceFactoryConfig,
    SlicePolicy,
    ToolInvoked,
    append_all,
    replace_latest,
    upsert_by,
)
from stenograph.transcript import TranscriptEntry

NOON = datetime(2026, 6, 8, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Plan:
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class AddStep:
    step: str


class Fact(msgspec.Struct, frozen=True):
    key: str
    value: int


def _said(content: str, role: Any = "assistant", **more: Any) -> TranscriptEntry:
    return TranscriptEntry.message(role=role, content=content, created_at=NOON, **more)


def _add_step(view: Any, event: AddStep) -> Replace[Plan]:
    plan = view.latest() or Plan()
    return Replace((Plan((*plan.steps, event.step)),))


def test_the_example_of_the_document() -> None:
    """A policy, entries, and the three ways to ask for them."""
    session = Session(bus=Bus())
    session.set_policy(TranscriptEntry, SlicePolicy.LOG)
    entries = [_said("hello", "user"), _said("hi"), _said("there", source="subagent:a")]
    for entry in entries:
        session.dispatch(entry)
    assert session[TranscriptEntry].all() == tuple(entries)
    assert session[TranscriptEntry].latest() is entries[-1]
    assert session[TranscriptEntry].where(lambda entry: entry.role == "assistant") == tuple(entries[1:])
    assert session[TranscriptEntry].where(lambda entry: entry.source == "main") == tuple(entries[:2])
    assert not session[TranscriptEntry].is_empty


def test_registering_append_all_for_a_log_changes_nothing() -> None:
    """It is registered already, so an entry is kept once and not twice."""
    session = Session()
    session[TranscriptEntry].register(TranscriptEntry, append_all)
    session.dispatch(_said("once"))
    assert [entry.content for entry in session[TranscriptEntry].all()] == ["once"]


def test_a_slice_that_nobody_filled_is_empty() -> None:
    """Nothing, said three ways."""
    plans = Session()[Plan]
    assert (plans.all(), plans.latest(), plans.where(lambda plan: True), plans.is_empty) == ((), None, (), True)


@pytest.mark.parametrize(
    "event",
    [
        _said("hello"),
        PromptRendered(prompt_name="review", adapter="openai", created_at=NOON, system="Be brief.", user="Look."),
        ToolInvoked(prompt_name="review", adapter="openai", created_at=NOON, name="Read", params={"path": "a"}),
        PromptExecuted(prompt_name="review", adapter="openai", created_at=NOON, text="Fine.", usage={"input": 3}),
    ],
    ids=lambda event: type(event).__name__,
)
def test_entries_and_session_events_are_history(event: Any) -> None:
    """They are LOG without being told, and survive going back to a time before them."""
    session = Session()
    before = session.snapshot()
    session.dispatch(event)
    session.restore(before)
    assert session[type(event)].all() == (event,)


def test_a_tool_call_succeeds_unless_it_says_why_not() -> None:
    """`success` follows from `error`, so the two never disagree."""
    call = ToolInvoked(prompt_name="review", adapter="openai", created_at=NOON, name="Read", duration_ms=1.5)
    assert call.success
    assert not dataclasses.replace(call, error="no such file").success


def test_states_roll_back_and_logs_stay() -> None:
    """Going back to a snapshot concerns STATE slices only, those that came later included."""
    session = Session()
    session.set_policy(Fact, SlicePolicy.LOG)
    session[Plan].register(Plan, replace_latest)
    session.dispatch(Plan(("read",)))
    session.dispatch(Fact("a", 1))
    snapshot = session.snapshot()
    session.dispatch(Plan(("write",)))
    session.dispatch(Fact("b", 2))
    session.dispatch(AddStep("later"))
    assert session[Plan].all() == (Plan(("write",)),)
    session.restore(snapshot)
    assert session[Plan].all() == (Plan(("read",)),)
    assert session[Fact].all() == (Fact("a", 1), Fact("b", 2))
    assert session[AddStep].is_empty
    assert snapshot.session_id == session.session_id
    assert dict(snapshot.states) == {Plan: (Plan(("read",)),)}


def test_a_snapshot_fits_another_session() -> None:
    """What one session knew, another can start from."""
    first, second = Session(), Session()
    first.dispatch(Plan(("read",)))
    second.restore(first.snapshot())
    assert second[Plan].all() == (Plan(("read",)),)


def test_an_event_may_change_the_slice_of_another_type() -> None:
    """Then it is not kept itself, for somebody has said what it is for."""
    session = Session()
    session[Plan].register(AddStep, _add_step)
    session.dispatch(AddStep("read"))
    session.dispatch(AddStep("write"))
    assert session[Plan].all() == (Plan(("read", "write")),)
    assert session[AddStep].is_empty


def test_a_log_keeps_its_values_whatever_else_is_made_of_them() -> None:
    """A reducer that counts entries takes nothing away from the transcript."""
    session = Session()
    session[Fact].register(TranscriptEntry, lambda view, entry: Append(Fact(entry.content, len(view.all()))))
    session.dispatch(_said("one"))
    session.dispatch(_said("two"))
    assert [entry.content for entry in session[TranscriptEntry].all()] == ["one", "two"]
    assert session[Fact].all() == (Fact("one", 0), Fact("two", 1))


def test_upsert_keeps_one_value_per_key_in_its_place() -> None:
    """A known key is replaced where it stood, a new one goes to the end."""
    session = Session()
    session[Fact].register(Fact, upsert_by(lambda fact: fact.key))
    for fact in (Fact("a", 1), Fact("b", 2), Fact("a", 3), Fact("c", 4)):
        session.dispatch(fact)
    assert session[Fact].all() == (Fact("a", 3), Fact("b", 2), Fact("c", 4))


def test_a_reducer_may_leave_the_slice_alone() -> None:
    """None means no change."""
    session = Session()
    session[Fact].register(Fact, lambda view, fact: Append(fact) if fact.value > 1 else None)
    session.dispatch(Fact("a", 1))
    session.dispatch(Fact("b", 2))
    assert session[Fact].all() == (Fact("b", 2),)


def test_a_log_refuses_to_be_replaced() -> None:
    """The error names the slice, and its entries are all still there."""
    session = Session()
    session.dispatch(_said("kept"))
    session[TranscriptEntry].register(TranscriptEntry, replace_latest)
    with pytest.raises(InvalidEvent, match="LOG slice of TranscriptEntry is append-only"):
        session.dispatch(_said("instead"))
    assert [entry.content for entry in session[TranscriptEntry].all()] == ["kept"]


def test_a_reducer_that_fails_changes_nothing() -> None:
    """All reducers run before anything is stored; its exception reaches who dispatched, and no subscriber hears."""
    session = Session()
    heard: list[object] = []
    session.bus.subscribe(object, heard.append)

    def fail(view: Any, event: AddStep) -> None:
        raise KeyError(event.step)

    session[Plan].register(AddStep, _add_step)
    session[Fact].register(AddStep, fail)
    with pytest.raises(KeyError, match="read"):
        session.dispatch(AddStep("read"))
    assert session[Plan].is_empty
    assert (heard, session.stats().dispatched) == ([], 0)


def test_the_policy_of_a_filled_slice_is_fixed() -> None:
    """Before the first value it may change, also when somebody has looked; afterwards only to what it is."""
    session = Session()
    assert session[Fact].is_empty
    session.set_policy(Fact, SlicePolicy.LOG)
    before = session.snapshot()
    session.dispatch(Fact("a", 1))
    session.restore(before)
    assert session[Fact].all() == (Fact("a", 1),)
    session.set_policy(Fact, SlicePolicy.LOG)
    with pytest.raises(InvalidEvent, match="LOG slice of Fact has values already"):
        session.set_policy(Fact, SlicePolicy.STATE)


def test_each_policy_has_its_own_storage() -> None:
    """The factory of a slice is the one that the configuration names for its policy."""
    made: list[tuple[str, type[Any]]] = []

    class Noting(MemorySliceFactory, frozen=True):
        name: str = ""

        def create(self, kind: type[Any]) -> Any:
            made.append((self.name, kind))
            return super().create(kind)

    session = Session(slice_config=SliceFactoryConfig(state_factory=Noting("state"), log_factory=Noting("log")))
    session.dispatch(Fact("a", 1))
    session.dispatch(_said("hello"))
    assert made == [("state", Fact), ("log", TranscriptEntry)]


@pytest.mark.parametrize("value", ["text", 5, None, {"a": 1}, TranscriptEntry, object()])
def test_what_is_no_value_is_refused(value: Any) -> None:
    """One sentence that says what to give instead, also for a class in place of its instance."""
    with pytest.raises(InvalidEvent, match="give an instance of a dataclass or a msgspec Struct"):
        Session().dispatch(value)


def test_what_is_no_type_or_policy_is_refused() -> None:
    """A session is asked by class, and a policy is one of two."""
    session = Session()
    with pytest.raises(InvalidEvent, match="is not a type"):
        session[_said("hello")]  # type: ignore[index]
    with pytest.raises(InvalidEvent, match="is not a type"):
        session[Fact].register("Fact", append_all)  # type: ignore[arg-type]
    with pytest.raises(InvalidEvent, match="'log' is not a policy"):
        session.set_policy(Fact, "log")  # type: ignore[arg-type]


def test_a_closed_session_takes_nothing_more() -> None:
    """Dispatching says so and names the session; reading goes on; closing twice is fine."""
    with Session() as session:
        session.dispatch(_said("hello"))
        snapshot = session.snapshot()
    session.close()
    for late in (lambda: session.dispatch(_said("late")), lambda: session.restore(snapshot)):
        with pytest.raises(StoreClosed, match=str(session.session_id)):
            late()
    assert [entry.content for entry in session[TranscriptEntry].all()] == ["hello"]


def test_a_session_has_an_id_of_its_own() -> None:
    """A UUID: minted, or the one that was given."""
    given = UUID(int=7)
    assert Session(session_id=given).session_id == given
    assert isinstance(Session().session_id, UUID)
    assert Session().session_id != Session().session_id


def test_a_value_is_stored_before_it_is_published() -> None:
    """Who hears of it finds it in its slice."""
    session = Session()
    seen: list[bool] = []
    session.bus.subscribe(Fact, lambda fact: seen.append(session[Fact].latest() is fact))
    session.dispatch(Fact("a", 1))
    assert seen == [True]


def test_what_a_subscriber_dispatches_is_heard_after_what_it_heard() -> None:
    """Every subscriber hears values in the order in which they were stored."""
    session = Session()
    heard: list[object] = []

    def answer(step: AddStep) -> None:
        session.dispatch(Fact(step.step, 1))

    session.bus.subscribe(AddStep, answer)
    session.bus.subscribe(object, heard.append)
    session.dispatch(AddStep("read"))
    assert heard == [AddStep("read"), Fact("read", 1)]


def test_a_subscriber_that_fails_is_counted_and_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """The value is stored, the others hear it, the session's numbers and the log say that somebody did not."""
    session = Session()
    heard: list[object] = []
    session.bus.subscribe(Fact, lambda fact: 1 / 0)
    session.bus.subscribe(Fact, heard.append)
    session.dispatch(Fact("a", 1))
    session.dispatch(Fact("b", 2))
    assert heard == list(session[Fact].all()) == [Fact("a", 1), Fact("b", 2)]
    assert session.stats().failed_subscribers == 2
    assert [record.name for record in caplog.records] == ["stenograph.session"]


def test_an_interrupted_subscriber_delays_the_rest_and_loses_none_of_it() -> None:
    """After Ctrl-C in a subscriber, what waits is heard with the next value."""
    session = Session()
    heard: list[object] = []

    def interrupt(step: AddStep) -> None:
        session.dispatch(Fact(step.step, 1))
        raise KeyboardInterrupt

    session.bus.subscribe(AddStep, interrupt)
    session.bus.subscribe(Fact, heard.append)
    with pytest.raises(KeyboardInterrupt):
        session.dispatch(AddStep("read"))
    session.dispatch(Fact("next", 2))
    assert heard == [Fact("read", 1), Fact("next", 2)]


def test_eight_threads_give_one_order() -> None:
    """What subscribers hear is what the slice holds, in its order, and every thread's values are in theirs."""
    session = Session()
    heard: list[Fact] = []
    session.bus.subscribe(Fact, heard.append)

    def work(name: str) -> None:
        for number in range(200):
            session.dispatch(Fact(name, number))

    threads = [threading.Thread(target=work, args=(str(name),)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = session[Fact].all()
    assert heard == list(stored)
    assert session.stats().dispatched == len(stored) == 1600
    for name in map(str, range(8)):
        assert [fact.value for fact in stored if fact.key == name] == list(range(200))


def test_a_slow_subscriber_does_not_hold_up_other_threads() -> None:
    """No lock is held while it runs: another thread can dispatch and read."""
    session = Session()
    is_inside, may_leave = threading.Event(), threading.Event()

    def wait(step: AddStep) -> None:
        is_inside.set()
        assert may_leave.wait(60)

    session.bus.subscribe(AddStep, wait)
    slow = threading.Thread(target=session.dispatch, args=(AddStep("slow"),))
    slow.start()
    assert is_inside.wait(60)
    session.dispatch(Fact("a", 1))
    assert session[Fact].all() == (Fact("a", 1),)
    may_leave.set()
    slow.join()


def test_every_refusal_is_a_stenograph_error() -> None:
    """Whoever catches the root catches these, too; and the builtin one would try first."""
    with pytest.raises(StenographError):
        Session().dispatch("text")
    with pytest.raises(ValueError):
        Session().dispatch("text")
