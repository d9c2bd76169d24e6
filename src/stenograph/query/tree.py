"""A run of the archive as a tree: its steps or subagents, the runs it called, its threads and forks."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from stenograph.archive.reader import IndexReader
from stenograph.fold.subagents import subagent_status
from stenograph.fold.tree import DEEPEST, RunNode, StepNode, step_tree
from stenograph.query.run_status import RunStatuses

_OURS = "exchange"


def archived_tree(archive: IndexReader, run: int) -> RunNode:
    """The tree of a run (`runs.id`). A run that it called and that the archive does not have is `missing`."""
    return _TreeBuilder(archive).run(run, frozenset())


class _TreeBuilder:
    def __init__(self, archive: IndexReader) -> None:
        self._archive = archive
        self._index = archive.index
        self._statuses = RunStatuses(archive.index)

    def run(self, run: int, above: frozenset[int]) -> RunNode:
        written = self._index.execute("SELECT format FROM runs WHERE id = ?", (run,)).fetchone()[0]
        above |= {run}
        if written == _OURS:
            node = step_tree(self._archive.events(run), self._statuses.life(run))
            return replace(node, steps=tuple(self._with_child(step, above) for step in node.steps))
        return self._agent(run, above)

    def _with_child(self, step: StepNode, above: frozenset[int]) -> StepNode:
        """A step of a workflow with the run that it called, where the archive has it."""
        steps = tuple(self._with_child(each, above) for each in step.steps)
        child = step.child
        if child is not None:
            found = self._index.execute("SELECT id FROM runs WHERE run_id = ?", (child.run_id,)).fetchone()
            if found is not None and found[0] not in above:  # a run that calls itself would recurse for ever
                child = self.run(found[0], above)
        return replace(step, steps=steps, child=child)

    def _agent(self, run: int, above: frozenset[int]) -> RunNode:
        query = "SELECT run_id, parent_run_id, name, started_at, ended_at, events FROM runs WHERE id = ?"
        run_id, parent, name, started, ended, events = self._index.execute(query, (run,)).fetchone()
        verdict = self._statuses.verdict(run)
        sources = _Sources(self._archive, run, verdict.status)
        messages, calls = sources.counts.get("main", (0, 0))
        return RunNode(
            run_id=run_id,
            parent_run_id=parent,
            name=name or "",
            status=verdict.status,
            status_reason=verdict.reason,
            started_at=started,
            ended_at=ended,
            events=events,
            messages=messages,
            tool_calls=calls,
            steps=(*sources.below("main", frozenset(["main"])), *self._runs_below(run, run_id, sources, above)),
        )

    def _runs_below(self, run: int, run_id: str, sources: _Sources, above: frozenset[int]) -> Iterable[StepNode]:
        """Threads that the run spawned, and forks that continue it; those below `DEEPEST` are not shown."""
        if len(above) > DEEPEST:
            return
        query = """
            SELECT runs.id, runs.run_id, runs.started_at, runs.parent_run_id IS ?, sources.parent_call_id
            FROM runs LEFT JOIN sources ON sources.run = runs.id AND sources.source = 'main'
            WHERE runs.parent_run_id = ? OR runs.forked_from = ? ORDER BY runs.started_ms, runs.id
        """
        for number, child_id, started, is_child, call_id in self._index.execute(query, [run_id] * 3).fetchall():
            if number in above:
                continue
            child = self.run(number, above)
            yield StepNode(
                name="thread" if is_child else "fork",
                kind=sources.kind(call_id, "spawned") if is_child else "continues it",
                path=child_id,
                iteration=0,
                status=child.status,
                started_at=started or "",
                messages=0,
                tool_calls=0,
                child=child,
                call_id=call_id if is_child else None,
                call_seq=sources.call_seq(call_id) if is_child else None,
            )


class _Sources:
    """The sources of one run of an agent."""

    def __init__(self, archive: IndexReader, run: int, status: str) -> None:
        index = archive.index
        self._status = status
        query = """
            SELECT calls.call_id, calls.name, calls.result IS NOT NULL, calls.error, events.seq
            FROM calls LEFT JOIN events ON events.id = calls.call WHERE calls.run = ?
        """
        self._calls = {call_id: call for call_id, *call in index.execute(query, (run,))}
        messages = """
            SELECT source, count(DISTINCT type || ' ' || coalesce('id ' || nullif(message_id, ''), id)) FROM events
            WHERE run = ? AND type IN ('message.user', 'message.assistant') AND subtype IS NULL GROUP BY source
        """
        message_counts: dict[str, int] = dict(index.execute(messages, (run,)))
        calls = (
            "SELECT source, count(*) FROM calls WHERE run = ? AND call IS NOT NULL AND copy_of IS NULL GROUP BY source"
        )
        call_counts: dict[str, int] = dict(index.execute(calls, (run,)))
        self.counts = {
            source: (message_counts.get(source, 0), call_counts.get(source, 0))
            for source in message_counts.keys() | call_counts.keys()
        }
        """By source: messages and tool calls."""
        query = """
            SELECT sources.source, sources.parent_source, sources.parent_call_id, first.timestamp, last.timestamp
            FROM sources JOIN events AS first ON first.run = sources.run AND first.seq = sources.first_seq
            JOIN events AS last ON last.run = sources.run AND last.seq = sources.last_seq
            WHERE sources.run = ? ORDER BY sources.first_seq
        """
        self._rows = index.execute(query, (run,)).fetchall()

    def below(self, source: str, above: frozenset[str]) -> tuple[StepNode, ...]:
        """The subagents of a source; one whose parent is unknown belongs to the main agent."""
        known = {row[0] for row in self._rows}
        steps: list[StepNode] = []
        for name, parent, call_id, first, last in self._rows:
            if name in above or (parent if parent in known else "main") != source:
                continue
            messages, calls = self.counts.get(name, (0, 0))
            steps.append(
                StepNode(
                    name=name,
                    kind=self.kind(call_id, "subagent"),
                    path=name,
                    iteration=0,
                    status=self._ended(call_id),
                    started_at=first,
                    ended_at=last,
                    messages=messages,
                    tool_calls=calls,
                    steps=self.below(name, above | {name}),
                    call_id=call_id,
                    call_seq=self.call_seq(call_id),
                )
            )
        return tuple(steps)

    def kind(self, call_id: str | None, otherwise: str) -> str:
        """The kind of a node: the call that spawned it."""
        return f"by {self._calls[call_id][0]}" if call_id in self._calls else otherwise

    def call_seq(self, call_id: str | None) -> int | None:
        """The number of the event of that call, in this run."""
        return self._calls[call_id][3] if call_id in self._calls else None

    def _ended(self, call_id: str | None) -> str:
        if call_id not in self._calls:
            return self._status
        _, has_result, error, _ = self._calls[call_id]
        return subagent_status(bool(has_result), error, self._status)
