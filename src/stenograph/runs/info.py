"""A run and its totals in one flat value, the same however the run was opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from stenograph.fold.span import SpanCounter
from stenograph.fold.status import NOT_KNOWN, Life, RunStatus
from stenograph.fold.totals import TotalsCounter
from stenograph.model.block import TextBlock
from stenograph.model.event import Event
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import TOKEN_COUNTS, LifecyclePayload, MessagePayload, UsagePayload

if TYPE_CHECKING:
    from stenograph.archive.store.identity import ArchiveIdentity
    from stenograph.fold.prices import Prices
    from stenograph.query.runs import RunLine


class RunInfo(Struct, frozen=True, kw_only=True):
    """One run in figures. `ls --json`, `Archive.runs()` and `RunReader.info` give these."""

    run_id: str
    parent_run_id: str | None = None
    """The run that spawned it."""
    agent: str = ""
    agent_version: str | None = None
    project: str | None = None
    """The last part of `cwd`."""
    cwd: str | None = None
    branch: str | None = None
    """The git branch, where the agent reports it."""
    title: str | None = None
    """The run's name, else the first line of its first prompt."""
    model: str | None = None
    """The model that it used last."""
    started_at: str | None = None
    """The first time that the source gives; None when it gives none."""
    ended_at: str | None = None
    """The last time that the source gives."""
    duration_ms: int | None = None
    status: str = "unknown"
    status_reason: str | None = None
    turns: int = 0
    """Messages to the main agent."""
    messages: int = 0
    tool_calls: int = 0
    failed_calls: int = 0
    open_calls: int = 0
    """Calls without a result."""
    errors: int = 0
    """Failed calls and error events."""
    subagents: int = 0
    input_tokens: int = 0
    """Cached ones included."""
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    output_tokens: int = 0
    """Reasoning included."""
    reasoning_output_tokens: int = 0
    cost_usd: float | None = None
    """The cost of the models that have a price; None when none has."""
    cost_is_partial: bool = False
    """Whether a model without a price was used, too."""
    host: str | None = None
    """The machine whose archive keeps the run; None outside an archive."""
    user: str | None = None
    archive_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, by their names."""
        return msgspec.structs.asdict(self)


def _not_known() -> Life:
    return NOT_KNOWN


class Setting(Struct, frozen=True, kw_only=True):
    """What is known about a run beside its events."""

    run_id: str = ""
    """Used where no event names it."""
    agent: str | None = None
    agent_version: str | None = None
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    """The first that is named; an answer names the one that it is of."""
    life: Callable[[], Life] = _not_known
    """Whether a process still writes it; called after the events were read."""


def info_of(events: Iterable[Event], prices: Prices, setting: Setting | None = None) -> RunInfo:
    """The info of the events of one run."""
    setting = setting or Setting()
    facts = _Facts(setting.model)
    for event in events:
        facts.add(event)
    return facts.info(prices, setting)


def info_of_line(line: RunLine, identity: ArchiveIdentity | None) -> RunInfo:
    """The info of a run of the index, from its line in the list of runs and the archive that keeps it."""
    fields = {name: getattr(line, name) for name in RunInfo.__struct_fields__ if name in line.__struct_fields__}
    if identity is None:
        return RunInfo(**fields)
    return RunInfo(**fields, host=identity.host, user=identity.user, archive_id=identity.id)


def project_of(cwd: str | None) -> str | None:
    """The name of a working folder."""
    return None if not cwd else cwd.replace("\\", "/").rstrip("/").rpartition("/")[2] or cwd


class _Facts:
    """Takes the events of one run into account, one by one."""

    def __init__(self, model: str | None) -> None:
        self._run_id = ""
        self._parent: str | None = None
        self._name: str | None = None
        self._prompt: str | None = None
        self._adapter = ""
        self._model = model
        self._span = SpanCounter()
        self._counter = TotalsCounter()
        self._status = RunStatus()

    def add(self, event: Event) -> None:
        self._run_id = self._run_id or event.run_id
        self._parent = self._parent or event.parent_run_id
        self._counter.add(event)
        self._status.add(event)
        self._span.add(event)
        if event.origin is not None:
            self._adapter = self._adapter or event.origin.adapter or ""
        payload = event.payload
        if isinstance(payload, MessagePayload) and event.source == "main":
            self._message(event, payload)
        elif isinstance(payload, UsagePayload):
            self._model = self._model or payload.model
        elif isinstance(payload, LifecyclePayload) and event.type == "run.started":
            self._name = payload.name

    def _message(self, event: Event, payload: MessagePayload) -> None:
        if event.type == "message.assistant":
            self._model = payload.real_model or self._model
        elif self._prompt is None:
            self._prompt = "\n".join(block.text for block in payload.said if isinstance(block, TextBlock)) or None

    def info(self, prices: Prices, setting: Setting) -> RunInfo:
        from stenograph.archive.keep.witness import agent_of
        from stenograph.query.runs import title_of

        totals, verdict = self._counter.totals(), self._status.verdict(setting.life())
        span = self._span.span
        begun, ended = milliseconds_of(span.started_at), milliseconds_of(span.ended_at)
        return RunInfo(
            run_id=self._run_id or setting.run_id,
            parent_run_id=self._parent,
            agent=setting.agent or agent_of(self._adapter or "exchange"),
            agent_version=setting.agent_version,
            project=project_of(setting.cwd),
            cwd=setting.cwd,
            branch=setting.branch,
            title=title_of(self._name, self._prompt),
            model=self._model,
            started_at=None if begun is None else span.started_at,
            ended_at=None if ended is None else span.ended_at,
            duration_ms=None if begun is None or ended is None else max(0, ended - begun),
            status=verdict.status,
            status_reason=verdict.reason,
            **{name: getattr(totals, name) for name in _COUNTS},
            **{name: getattr(totals.tokens, name) for name in TOKEN_COUNTS if name in RunInfo.__struct_fields__},
            **self._cost(prices),
        )

    def _cost(self, prices: Prices) -> dict[str, Any]:
        cost = prices.total(self._counter.usage.counting())
        dollars = None if cost.dollars is None else round(cost.dollars, 6)
        return {"cost_usd": dollars, "cost_is_partial": cost.is_partial}


_COUNTS = ("turns", "messages", "tool_calls", "failed_calls", "open_calls", "errors", "subagents")
