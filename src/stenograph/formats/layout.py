"""Where an agent keeps its files, and which of them belong together: data and pure functions, part of a `FormatSpec`.

Nothing here reads the disk; `stenograph.sources` does, by this data. A pattern is the path of files below a folder:
`{word}` is any text within one name, and the same text wherever the word occurs again; `*` is any text, `**/` any
number of folders. Words with a meaning are `{session}`, the id of a session; `{stem}`, the name of its main file
without the suffix; and `{agent}`, the id of a subagent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from sqlite3 import Connection

    from stenograph.formats.base import Identity

Parent = tuple[str | None, str | None]
"""The source and the call that spawned a subagent, as far as they are known."""
State = tuple[int, int]
"""How far a stored session has grown: numbers that only increase."""


class Home(Struct, frozen=True, kw_only=True):
    """A folder in which an agent keeps transcripts."""

    default: str = ""
    """The agent's folder below the user's home, when no variable names another: `.claude`."""
    variable: str = ""
    """The environment variable that names another folder instead."""
    folder: str = ""
    """The folder below that: `projects`."""
    file_variable: str = ""
    """An environment variable that names one file, by its path or relative to the folder: then its folder is taken."""

    def path(self, environment: Mapping[str, str], home: str) -> str:
        """The folder, by the environment and the user's home."""
        base = environment.get(self.variable) or _joined(home, self.default)
        folder = _joined(base, self.folder)
        named = environment.get(self.file_variable)
        if not named:
            return folder
        file = named if named.startswith("/") else _joined(folder, named)
        return folder_of(file)


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if name else folder


class Sidecar(Struct, frozen=True, kw_only=True):
    """A small file beside a subagent's that says which call spawned it."""

    suffix: str
    """What replaces the transcript's own suffix: `.meta.json`."""
    parent: Callable[[dict[str, Any]], Parent]
    """Who spawned the subagent, by the content of the file."""
    unfinished: str = ""
    """What follows the suffix while the agent is still writing the file: `.tmp.`, and then anything."""


class Links(Struct, frozen=True, kw_only=True):
    """How transcripts say which call spawned which subagent, where no sidecar does."""

    mark: bytes
    """Bytes that every such line contains; lines without them are skipped."""
    of: Callable[[Any], Iterable[tuple[str, str]]]
    """The subagents that a record names, each with the call that spawned it."""
    are_nested: bool = False
    """Whether subagents' files also name subagents of their own."""


class StoredSession(Struct, frozen=True, kw_only=True):
    """One session of a database, which holds many."""

    identity: Identity
    state: State | None = None
    """Changes when anything in the session changes; None when that cannot be known."""
    parent: Callable[[], Parent]
    lines: Callable[[], Iterator[bytes]]
    """Reads the session: lines of JSON, each with its newline."""
    lines_since: Callable[[State], list[bytes] | None]
    """Reads what changed after an earlier state; None when the database does not record that."""


class Database(Struct, frozen=True, kw_only=True):
    """How to read the sessions of a database, by a connection with one unchanging view that gives texts as bytes."""

    sessions: Callable[[Connection], list[StoredSession]]
    """Every session, those of one run together, the oldest run first."""
    has_session: Callable[[Connection, str], bool]
    """Whether it holds a session with this id."""


class Contents(Protocol):
    """The JSON values in a file: one without a name, or the members of a ZIP.

    Besides the value without a name there are those of the other files read with it (`Layout.parts`, `Layout.shared`),
    named by their paths.
    """

    names: tuple[str, ...]

    def read(self, name: str) -> Any:
        """The value of that name. Raises `ValueError` for what is not JSON."""

    def state(self, name: str) -> State | None:
        """Changes when the value changes; None when that cannot be known without reading it."""


class ManySessions(Struct, frozen=True, kw_only=True):
    """How to read a file of many sessions that is not a database."""

    is_one: Callable[[bytes], bool]
    """Whether a file holds many sessions, by its first line; else it is one session, line by line."""
    sessions: Callable[[bytes, str], list[StoredSession]]
    """Every session in the bytes of such a file with this path, those of one run together."""


class Layout(Struct, frozen=True, kw_only=True):
    """How one agent lays out its files."""

    homes: tuple[Home, ...] = ()
    """Empty for files without a fixed folder."""
    sessions: tuple[str, ...] = ()
    """Patterns of the main file of a session, or of a database, below a home."""
    session_in_name: Callable[[str], str] | None = None
    """The part of a session's id that is in the name of its file, when that is not all of it."""
    continues_in: Literal["first", "last"] = "last"
    """Which of several files of one session continues it, by the order of their names."""
    replaced_by: Mapping[str, str] = {}
    """Suffixes of main files that are skipped when a file with the other suffix exists."""
    members: tuple[str, ...] = ()
    """Patterns of the files of a session's subagents, below the folder of its main file; `../` is the one above it."""
    nearby: tuple[str, ...] = ()
    """Patterns of subagents' files in the same folder that name their session only in their content."""
    always_members: tuple[tuple[str, ...], tuple[int, ...]] | None = None
    """The tools that spawn a subagent, and the first version in which every such subagent has a file of its own."""
    sidecar: Sidecar | None = None
    links: Links | None = None
    side_file: Callable[[str, str, str], str | None] | None = None
    """The path of an output that the agent stored in a separate file, by the path of the main file, the session's id
    and the name in the transcript; None for a name that is not valid: a transcript must not make us read arbitrary
    files."""
    database: Database | None = None
    runs: Callable[[Contents], list[StoredSession]] | None = None
    """The runs in a file that holds many: a document with a list of them, or a ZIP. Also the one run of a document that
    its agent rewrites at each step, split into lines, so that only changed lines are stored again."""
    parts: tuple[str, ...] = ()
    """Patterns of further files of a session, below the folder of its main file: `runs` reads them with it, and they
    are not sessions of their own."""
    many: ManySessions | None = None
    shared: tuple[str, ...] = ()
    """Patterns of files beside a main one that describe many sessions: `runs` reads them with each, but a change of one
    does not mean that a session has changed."""
    unread: tuple[str, ...] = ()
    """Patterns of files below a home that the agent keeps for itself, named as transcripts are: they are not looked at,
    and `steno doctor` does not miss them."""
    in_work_folder: bool = False
    """Whether sessions are kept in the folder that the agent works in, or in the root of its repository: `steno run`
    looks for them there."""
    works_elsewhere: bool = False
    """Whether the agent works in a folder of its own, wherever it is started: `steno run` then takes every session that
    is written while a command runs as that command's."""
    names_folder: Callable[[str], bytes] | None = None
    """Text that a session's file contains when the agent works in this folder; without it, the identity's folder
    decides."""
    is_of_folder: Callable[[str, str], bool] | None = None
    """Whether the session in a file with this path belongs to this working folder, when only the path shows it."""

    def described(self) -> str:
        """One line for people: where such files are; empty when they have no fixed place."""
        if not self.homes:
            return ""
        home = self.homes[0]
        folder = _joined(_joined("~", home.default), home.folder)
        variables = [f"${each}" for each in (home.variable, home.file_variable) if each]
        path = _joined(folder, re.sub(r"\{(\w+)\}", r"<\1>", self.sessions[0]))
        return f"{path} ({', '.join(variables)})" if variables else path

    def suffixes(self) -> frozenset[str]:
        """What the names of its files end with."""
        names = (pattern.rpartition("/")[2] for pattern in (*self.sessions, *self.members, *self.nearby))
        # A name without a word that begins with a dot is taken whole: other files end with `.md`, too.
        whole = (name if name.startswith(".") else f".{name.rpartition('.')[2]}" for name in names if "." in name)
        return frozenset(whole)


def cwd_field(folder: str) -> bytes:
    """The working folder as many agents write it: as `cwd` in a JSON object."""
    return b'"cwd":' + msgspec.json.encode(folder.encode("utf-8", "replace").decode())


def is_name(text: str) -> bool:
    """Whether a text from a transcript is a plain name of a file or folder, and not a path that leads elsewhere."""
    return text not in ("", ".", "..") and not any(letter in text for letter in "/\\\0")


def folder_of(path: str) -> str:
    """The folder of a path."""
    folder, mark, _ = path.rpartition("/")
    return folder or ("/" if mark else ".")


def last_name(path: str) -> str:
    """The last name of a path that an agent wrote."""
    return path.rpartition("/")[2]
