"""Every exception that Stenograph raises on purpose.

    StenographError
    ├── InvalidEvent (ValueError)          the caller's value does not fit an event
    │   └── InvalidRunId                   not a UUID, so no journal can be named after it
    ├── InvalidAgent (ValueError)          no agent with that name and a known folder
    ├── InvalidConfig (ValueError)         the configuration has an unknown key, or a value that does not fit
    ├── InvalidFormat (ValueError)         no format of that name is installed
    ├── InvalidOption (ValueError)         an option, or a value of one, that a format does not have
    ├── InvalidQuery (ValueError)          a query has a mistake, would do more than read, or goes beyond a limit
    ├── InvalidRule (ValueError)           a rule for secrets that is not valid, could be slow or misses its example
    ├── InvalidTarget (ValueError)         the target exists, but the command cannot work on its kind
    ├── InvalidTool (TypeError)            a Python function that cannot be offered to a model as a tool
    ├── MissingExtra (ImportError)         an optional dependency is not installed
    ├── AgentError (RuntimeError)          an agent could not be run, or did not answer
    │   └── AgentTimeout (TimeoutError)    it took longer than its time limit
    ├── SourceError (OSError)              an input cannot be read
    │   ├── RunNotFound (LookupError)      no run with that id, or no file at that path
    │   ├── AmbiguousRun (LookupError)     a prefix that matches more than one run
    │   ├── AmbiguousFormat                a file that two formats claim
    │   ├── FormatFailed                   a format that raised something on a file
    │   └── InvalidEvidence (ValueError)   not a checkpoint, key or proof that can be read
    │       ├── BadSignature               a signature that does not fit what it signs
    │       └── HistoryChanged             an archive differs from what a checkpoint says
    ├── WitnessRefused (OSError)           a witness or time stamping authority did not sign, or could not be asked
    └── StoreError (OSError)               the journal cannot be written
        ├── StoreLocked                    another recorder holds it
        │   └── ArchiveLocked              another process writes or watches the archive
        └── StoreClosed                    this recorder is closed

Each message is one sentence: what happened, to what, what to do. The facts are attributes.
`exit_code` is what the command line returns for it.
"""

from __future__ import annotations

__all__ = [
    "AgentError",
    "AgentTimeout",
    "AmbiguousFormat",
    "AmbiguousRun",
    "ArchiveLocked",
    "BadSignature",
    "FormatFailed",
    "HistoryChanged",
    "InvalidAgent",
    "InvalidConfig",
    "InvalidEvent",
    "InvalidEvidence",
    "InvalidFormat",
    "InvalidOption",
    "InvalidQuery",
    "InvalidRule",
    "InvalidRunId",
    "InvalidTarget",
    "InvalidTool",
    "MissingExtra",
    "RunNotFound",
    "SourceError",
    "StenographError",
    "StoreClosed",
    "StoreError",
    "StoreLocked",
    "WitnessRefused",
]


class StenographError(Exception):
    """The root of all exceptions that Stenograph raises on purpose."""

    exit_code = 1

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled with its message and its facts, whatever its constructor takes."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[StenographError], args: tuple[object, ...], facts: dict[str, object]) -> StenographError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


def _nearest(name: str, known: tuple[str, ...]) -> str:
    """A question that suggests the most similar known name; empty where none is similar."""
    from difflib import get_close_matches  # only where there is a mistake

    found = get_close_matches(name.lower(), known, n=1)
    return f"did you mean {found[0]}? " if found else ""


class InvalidEvent(StenographError, ValueError):
    """A value does not fit the event it was given for."""

    exit_code = 2


class InvalidRunId(InvalidEvent):
    """A run id must be a UUID."""

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(
            f"{str(value)[:80]!r} is not a run id; give a UUID such as 550e8400-e29b-41d4-a716-446655440000"
        )


class InvalidConfig(StenographError, ValueError):
    """The configuration has an unknown key, or a value that does not fit."""

    exit_code = 2


class InvalidFormat(StenographError, ValueError):
    """No format of that name is installed."""

    exit_code = 2

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        super().__init__(f"unknown format {name!r}; {_nearest(name, known)}known formats: {', '.join(known)}")


class InvalidAgent(StenographError, ValueError):
    """No agent with that name has a known folder."""

    exit_code = 2

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        super().__init__(f"unknown agent {name!r}; {_nearest(name, known)}known agents: {', '.join(known)}")


class InvalidOption(StenographError, ValueError):
    """An option, or a value of one, that a format does not have."""

    exit_code = 2


class InvalidQuery(StenographError, ValueError):
    """A query has a mistake, would do more than read, or goes beyond a limit."""

    exit_code = 2


class InvalidRule(StenographError, ValueError):
    """A rule for secrets that is not valid, could be slow, or does not do what its examples say."""

    exit_code = 2


class InvalidTarget(StenographError, ValueError):
    """The target exists, but the command cannot work on its kind."""

    exit_code = 2


class InvalidTool(StenographError, TypeError):
    """A Python function cannot be offered to a model as a tool."""

    exit_code = 2

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        super().__init__(f"{name} cannot be a tool: {why}")


class MissingExtra(StenographError, ImportError):
    """An optional dependency is not installed."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"{package} is not installed; in a checkout, run: pip install '.[{extra}]'")


class AgentError(StenographError, RuntimeError):
    """An agent could not be run, or did not answer."""


class AgentTimeout(AgentError, TimeoutError):
    """An agent took longer than its time limit."""


class SourceError(StenographError, OSError):
    """An input is missing, unreadable or not what it should be."""

    exit_code = 3

    def __init__(self, message: str, path: str = "") -> None:
        self.path = path
        super().__init__(message)


class RunNotFound(SourceError, LookupError):
    """No run has that id, or no file is at that path."""


def unreadable(path: object, error: OSError) -> SourceError:
    """The exception for a file that could not be opened or read."""
    if isinstance(error, FileNotFoundError):
        return RunNotFound(f"{path} does not exist; check the path", str(path))
    return SourceError(f"cannot read {path}: {error.strerror}; check the path and its permissions", str(path))


def unknown_format(name: str) -> SourceError:
    """The exception for a file or stream that no format recognizes."""
    return SourceError(f"{name} is not in a known format; steno formats lists them", name)


class AmbiguousFormat(SourceError):
    """Two formats claim a file with equal certainty."""

    def __init__(self, path: str, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(f"{path or 'it'} may be in {' or '.join(names)}; say which with --from {names[0]}", path)


class FormatFailed(SourceError):
    """A format raised an exception, which none should."""

    def __init__(self, name: str, error: Exception, path: str = "") -> None:
        self.name = name
        self.reason = f"{type(error).__name__}: {error}"
        what = f"the format {name} failed to read {path or 'its input'} ({self.reason})"
        super().__init__(f"{what}; report this to its author, or uninstall its package", path)


class AmbiguousRun(SourceError, LookupError):
    """A run id prefix matches more than one run."""

    def __init__(self, message: str, run_ids: tuple[str, ...]) -> None:
        self.run_ids = run_ids
        super().__init__(message)


class InvalidEvidence(SourceError, ValueError):
    """A file that should be a checkpoint, key or proof is not one."""


class BadSignature(InvalidEvidence):
    """A signature does not fit what it signs: one of the two was changed."""

    exit_code = 1


class HistoryChanged(InvalidEvidence):
    """An archive differs from what a checkpoint says."""

    exit_code = 1


class WitnessRefused(StenographError, OSError):
    """A witness or time stamping authority did not sign a checkpoint, or could not be asked."""

    exit_code = 1

    def __init__(self, message: str, url: str) -> None:
        self.url = url
        super().__init__(message)


class StoreError(StenographError, OSError):
    """A file could not be written; no part of it was kept."""

    exit_code = 4

    def __init__(self, message: str, path: str = "") -> None:
        self.path = path
        super().__init__(message)


class StoreLocked(StoreError):
    """Another recorder is writing this journal."""

    def __init__(self, path: str, pid: int | None) -> None:
        self.pid = pid
        holder = f"process {pid}" if pid else "another process"
        super().__init__(f"{path} is being written by {holder}; close that recorder or use another run id", path)


class ArchiveLocked(StoreLocked):
    """Another process writes or watches this archive."""

    def __init__(self, path: str, pid: int | None, who: str) -> None:
        super().__init__(path, pid)
        holder = f"process {pid}" if pid else "another process"
        folder = path.rpartition("/")[0]
        self.args = (f"{who} is at work in {folder} ({holder}); wait for it or end it",)


class StoreClosed(StoreError):
    """The recorder was closed before this event came."""
