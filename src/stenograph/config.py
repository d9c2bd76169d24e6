"""The configuration: one file, and the only place that reads it and the environment variables that override it.

Theory of operation. A value is read by its key (`value("archive.home")`) where it is needed. An option of a command
wins, then the key's environment variable, then `config.toml`, then the caller's default. A missing file costs one
system call; an existing one is read once, and again when it changed. It is checked as a whole: an unknown key or a
value of another type is an error, whichever key is read.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from stenograph.errors import InvalidConfig

FILE = "config.toml"
VARIABLE = "STENOGRAPH_CONFIG"
SECTIONS = ("archive", "keep", "redact", "serve", "push", "evidence", "prices")
"""The tables that a file may have; some have no key yet. `[[keep]]` is a list of rules."""

Kind = Literal["path", "texts", "flag"]


class Key(NamedTuple):
    """One setting."""

    name: str
    """`<section>.<key>`"""
    kind: Kind
    variable: str
    """The environment variable that overrides the file."""
    option: str
    """The option that overrides both; empty where no command has one."""
    about: str


KEYS = (
    Key(
        "archive.home",
        "path",
        "STENOGRAPH_HOME",
        "--archive",
        "the archive: the folder that keeps the runs of this machine",
    ),
    Key("archive.storage", "path", "STENOGRAPH_STORAGE", "--root", "the root that holds `transcripts/`"),
    Key(
        "archive.texts",
        "path",
        "STENOGRAPH_TEXTS",
        "--text-root",
        "the root for plain-text transcripts of what `steno run`, `hook` and `collect` record",
    ),
    Key(
        "archive.index",
        "flag",
        "STENOGRAPH_INDEX",
        "",
        "index what `steno run`, `hook` and `collect` recorded as soon as it has ended; true unless set",
    ),
    Key("redact.rules", "path", "STENOGRAPH_REDACT_RULES", "", "a file with rules of your own for `--redact`"),
    Key("redact.names", "texts", "STENOGRAPH_REDACT_NAMES", "", "further names whose values are secret"),
    Key("redact.keep", "texts", "STENOGRAPH_REDACT_KEEP", "", "texts that are never masked"),
    Key("redact.warn", "flag", "STENOGRAPH_REDACT_WARN", "", "let `steno sync` warn about secrets that are new"),
    Key("evidence.key", "path", "STENOGRAPH_EVIDENCE_KEY", "--key", "the key that signs checkpoints of an archive"),
    Key("evidence.to", "texts", "STENOGRAPH_EVIDENCE_TO", "--to", "folders that get a copy of every checkpoint"),
    Key("evidence.witnesses", "texts", "STENOGRAPH_EVIDENCE_WITNESSES", "--witness", "witnesses that cosign them"),
    Key("prices.file", "path", "STENOGRAPH_PRICES", "--prices", "a table of prices of your own, over the one shipped"),
)
"""Every key that a file may have."""

_BY_NAME = {key.name: key for key in KEYS}
_WORDS = {"path": "a text", "texts": "a list of texts", "flag": "true or false"}
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class KeepRule(NamedTuple):
    """One `[[keep]]` table: for which runs it is, and how long they are kept. The first that matches a run decides."""

    agent: str | None = None
    """The name of an agent or format, or its beginning."""
    project: str | None = None
    """A part of the project's name; or a folder, when it begins with `/`, `.` or `~`."""
    starred: bool | None = None
    """Without it the rule is for runs that have no star."""
    age: str | None = None
    """Runs whose last event is older are removed: `90d`, `26w`."""
    size: str | None = None
    """Beyond this, the oldest of these runs are removed: `500MB`, `20GB`, of kept bytes before compression."""
    apply: bool = False
    """Whether `steno sync` and `steno watch` remove runs; otherwise they only say what they would remove."""

    @property
    def days(self) -> float | None:
        """The age in days."""
        if self.age is None:
            return None
        return int(self.age[:-1]) * {"h": 1 / 24, "d": 1, "w": 7}[self.age[-1]]

    @property
    def bytes(self) -> int | None:
        """The size in bytes."""
        if self.size is None:
            return None
        number = self.size.rstrip("KMGTBi ")
        return int(float(number) * _SIZES[self.size[len(number) :].strip()])


Value = str | tuple[str, ...] | bool | tuple[KeepRule, ...]
_SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


class Setting(NamedTuple):
    """A key with the value that is in force."""

    key: Key
    value: Value | None
    """None where it is not set."""
    source: str
    """`environment`, `file` or `default`."""


def config_path() -> Path:
    """The path of the configuration: `$STENOGRAPH_CONFIG`, or `config.toml` in the user's folder for settings."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    if sys.platform == "linux":  # the same path as below: platformdirs takes longer to load than a search to start
        base = os.environ.get("XDG_CONFIG_HOME", "").strip()
        return Path(base or Path("~/.config").expanduser(), "stenograph", FILE)
    from platformdirs import user_config_dir

    return Path(user_config_dir("stenograph"), FILE)


def value(name: str) -> Any:
    """The value of a key by its variable, else by the file; None where neither sets it. Raises `InvalidConfig`."""
    return setting(_BY_NAME[name]).value


def setting(key: Key) -> Setting:
    """The value of a key with its source. Raises `InvalidConfig`."""
    given = os.environ.get(key.variable)
    if given:
        return Setting(key, _of_text(key, given), "environment")
    values = read()
    return Setting(key, values[key.name], "file") if key.name in values else Setting(key, None, "default")


def keep_rules() -> tuple[KeepRule, ...]:
    """The `[[keep]]` tables of the file, in their order. Raises `InvalidConfig`."""
    rules: Any = read().get("keep", ())
    return tuple(rules)


def settings() -> list[Setting]:
    """Every key, in the order of `KEYS`."""
    return [setting(key) for key in KEYS]


def read() -> dict[str, Value]:
    """What the file sets, by key; nothing where there is no file. Raises `InvalidConfig`."""
    path = config_path()
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if os.environ.get(VARIABLE):
            message = f"there is no file {path}, which ${VARIABLE} names; make it, or unset ${VARIABLE}"
            raise InvalidConfig(message) from None
        return {}
    except OSError as error:
        raise InvalidConfig(f"cannot read {path}: {error.strerror}; check its permissions") from error
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, mtime_ns: int, size: int) -> dict[str, Value]:
    import tomllib  # only where there is a file

    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidConfig(f"cannot read {path}: {error.strerror}; check its permissions") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"{path} is not TOML: {error}; correct it") from error
    found: dict[str, Value] = {}
    for section, table in tables.items():
        if section == "keep":
            found[section] = _keep_rules(path, table)
            continue
        if section not in SECTIONS:
            raise InvalidConfig(f"{path}: unknown section [{section}]; known sections: {', '.join(SECTIONS)}")
        if not isinstance(table, dict):
            raise InvalidConfig(f"{path}: {section} is not a table; write [{section}] above its keys")
        for key, given in table.items():
            found[f"{section}.{key}"] = _checked(path, f"{section}.{key}", given)
    return found


def _keep_rules(path: Path, tables: Any) -> tuple[KeepRule, ...]:
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise InvalidConfig(f"{path}: keep is not a list of tables; write [[keep]] above the keys of each rule")
    return tuple(_keep_rule(path, number, table) for number, table in enumerate(tables, 1))


def _keep_rule(path: Path, number: int, table: dict[str, Any]) -> KeepRule:
    where = f"{path}: rule {number} of [[keep]]"
    for key, given in table.items():
        if key not in KeepRule._fields:
            raise InvalidConfig(f"{where}: unknown key {key}; known keys: {', '.join(KeepRule._fields)}")
        kind = bool if key in ("starred", "apply") else str
        if not isinstance(given, kind) or given == "":
            raise InvalidConfig(
                f"{where}: {key} is {given!r:.60}; it must be {_WORDS['flag' if kind is bool else 'path']}"
            )
    rule = KeepRule(**table)
    if rule.age is not None and not re.fullmatch(r"[0-9]{1,5}[hdw]", rule.age):
        raise InvalidConfig(f"{where}: age is {rule.age!r:.60}; write hours, days or weeks: 12h, 90d, 26w")
    if rule.size is not None and not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)? ?(B|KB|MB|GB|TB)", rule.size):
        raise InvalidConfig(f"{where}: size is {rule.size!r:.60}; write it as 500MB or 20GB")
    return rule


def _checked(path: Path, name: str, given: Any) -> Value:
    key = _BY_NAME.get(name)
    if key is None:
        section = name.partition(".")[0]
        known = [each.name.partition(".")[2] for each in KEYS if each.name.startswith(f"{section}.")]
        keys = f"keys of [{section}]: {', '.join(known)}" if known else f"[{section}] has no key yet"
        raise InvalidConfig(f"{path}: unknown key {name}; {keys}")
    fits = {
        "path": isinstance(given, str) and given != "",
        "flag": isinstance(given, bool),
        "texts": isinstance(given, list) and all(isinstance(each, str) for each in given),
    }
    if not fits[key.kind]:
        raise InvalidConfig(f"{path}: {name} is {given!r:.60}; it must be {_WORDS[key.kind]}")
    if key.kind == "path":  # relative to the file, so that it means the same wherever a command is started
        return str(path.parent.absolute() / Path(given).expanduser())
    return tuple(given) if key.kind == "texts" else given


def _of_text(key: Key, given: str) -> Value:
    """The value of an environment variable: texts are separated by commas."""
    if key.kind == "path":
        return given
    if key.kind == "texts":
        return tuple(each.strip() for each in given.split(",") if each.strip())
    word = given.strip().lower()
    if word not in (*_TRUE, *_FALSE):
        raise InvalidConfig(f"${key.variable} is {given!r:.60}; it must be true or false")
    return word in _TRUE
