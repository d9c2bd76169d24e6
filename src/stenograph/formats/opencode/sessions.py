"""The sessions of a database: which run each belongs to, and which call spawned a subagent's."""

from __future__ import annotations

from msgspec import Struct

from stenograph.formats.base import Context, run_id_of

NAME = "opencode"


class Session(Struct):
    """Who speaks in the rows of one session."""

    run_id: str
    root: str
    """The root session, which a person began: this one, or the one that led to it."""
    source: str = "main"
    parent_source: str | None = None
    parent_call_id: str | None = None


class Sessions:
    """Every session in the rows so far.

    The one that the context names, or else the first, is the run that the context names; each later one is a run of
    its own, unless its row says that it is a subagent's: then it belongs to the run of its root session.
    """

    def __init__(self, context: Context, format_name: str = NAME) -> None:
        self._context = context
        self._format_name = format_name
        self._home = context.session_id
        self._sessions: dict[str, Session] = {}
        self._spawned: dict[str, tuple[Session, str]] = {}
        """Who began a session, and by which call."""

    def get(self, id: str) -> Session:
        """The session with this id, known from now on."""
        session = self._sessions.get(id)
        if session is None:
            if self._home is None:
                self._home = id
            session = self._sessions[id] = self._of_context(id) if id == self._home else self._alone(id)
        return session

    def _of_context(self, id: str) -> Session:
        context = self._context
        return Session(context.run_id, id, context.source, context.parent_source, context.parent_call_id)

    def _alone(self, id: str) -> Session:
        """A session of which at most the call that began it is known."""
        if id not in self._spawned:
            return Session(run_id_of(self._format_name, id), id)
        by, call_id = self._spawned[id]
        return Session(by.run_id, by.root, f"subagent:{id}", by.source, call_id)

    def learn(self, id: str, parent_id: str, root_id: str, call_id: str) -> None:
        """Take what a session's row says: whose subagent it is and, where the reader knows them, root and call."""
        session = self.get(id)
        if id == self._home:  # the context has everything but the root
            session.root = root_id or session.root
        if id == self._home or session.source != "main" or parent_id in ("", id):
            return
        parent = self._sessions.get(parent_id)
        session.root = root_id or (parent_id if parent is None else parent.root)
        runs = [each.run_id for each in self._sessions.values() if each is not session and each.root == session.root]
        session.run_id = runs[0] if runs else run_id_of(self._format_name, session.root)
        session.source = f"subagent:{id}"
        session.parent_source = None if parent is None else parent.source
        session.parent_call_id = call_id or None

    def spawned(self, child: str, by: Session, call_id: str) -> None:
        """Note that a call began a session, maybe before that session's row was read."""
        self._spawned.setdefault(child, (by, call_id))
        session = self._sessions.get(child)
        if session is not None and session.source != "main" and session.parent_call_id is None:
            session.parent_source, session.parent_call_id = by.source, call_id
