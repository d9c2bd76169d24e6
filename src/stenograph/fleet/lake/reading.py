"""A lake for SQL: a connection of DuckDB with the views over its tables.

Nothing is fetched at run time: which files a table has is asked of the library of Delta Lake, files of a folder are
read by DuckDB itself, and those of a bucket through Arrow. DuckDB's own extensions for either are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stenograph.errors import MissingExtra, RunNotFound
from stenograph.fleet.lake.place import is_uniform, lake_library, open_table
from stenograph.fleet.lake.tables import EVENTS, RUNS, schema_of
from stenograph.fleet.lake.views import CURRENT, KEPT, ONCE, VIEWS

if TYPE_CHECKING:
    import duckdb
    from deltalake import DeltaTable

    from stenograph.fold.prices import Prices


_ACTION = ("path", "partition.day", "min.day", "max.day", "min.run_id", "max.run_id")
"""What is asked of each file of a table."""
_HAS_REPEATED = "SELECT 1 FROM repeated_reports UNION ALL SELECT 1 FROM repeated_calls LIMIT 1"


class Owners(Struct, frozen=True, kw_only=True):
    """Whose runs to read; by default all."""

    machine: str | None = None
    user: str | None = None
    team: str | None = None

    def condition(self) -> tuple[str, list[str]]:
        """A condition on `runs`, and its parameters."""
        named = {"host": self.machine, "user": self.user, "team": self.team}
        wanted = {name: value for name, value in named.items() if value is not None}
        return " AND ".join(f'"{name}" = ?' for name in wanted) or "true", list(wanted.values())


EVERYBODY = Owners()


class Span(Struct, frozen=True, kw_only=True):
    """Which part of a table is needed: files that have nothing of it are not opened."""

    first_day: str | None = None
    last_day: str | None = None
    run_id: str | None = None

    def of_runs(self) -> str:
        """A condition on `runs`: those that may have events in it."""
        conditions = []
        if self.first_day is not None:
            conditions.append(f"coalesce(ended_ms, 0) >= epoch_ms(TIMESTAMP {quoted(self.first_day)})")
        if self.last_day is not None:
            after = f"epoch_ms(TIMESTAMP {quoted(self.last_day)} + INTERVAL 1 DAY)"
            conditions.append(f"coalesce(started_ms, 0) < {after}")
        if self.run_id is not None:
            conditions.append(f"run_id = {quoted(self.run_id)}")
        return " AND ".join(conditions) or "true"

    def has(self, minimum: dict[str, Any], maximum: dict[str, Any]) -> bool:
        """Whether a file may have something of it, by the bounds of its columns."""
        bounds = (
            ("day", self.first_day, self.last_day),
            ("run_id", self.run_id, self.run_id),
        )
        for name, first, last in bounds:
            low, high = minimum.get(name), maximum.get(name)
            if first is not None and high is not None and high < first:
                return False
            if last is not None and low is not None and low > last:
                return False
        return True


WHOLE = Span()


class Lake:
    """The lake of a store, as it is now. For one thread at a time; close it, or use it in a `with`."""

    def __init__(self, url: str, owners: Owners = EVERYBODY) -> None:
        """Raises `RunNotFound` if nothing was loaded yet, `SourceError` if it cannot be read."""
        self.url = url
        self.owners = owners
        events, runs = open_table(url, "events"), open_table(url, "runs")
        if events is None or runs is None:
            raise RunNotFound(f"there is no lake in {url} yet; run: steno lake load {url}", url)
        self.events, self.runs = events, runs

    @property
    def files(self) -> int:
        """How many files the table of events has."""
        return len(self.events.file_uris())

    def local_files(self) -> list[str]:
        """The files of both tables that DuckDB reads by itself."""
        return [file for table in (self.events, self.runs) for file in files_of(table) if file.startswith("/")]

    @contextmanager
    def connected(
        self, span: Span = WHOLE, prices: Prices | None = None, *, tokens: bool = False
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection with the views; those for users need `prices`. `tokens`: make adding up usage quick."""
        with self.connected_to_runs() as connection:
            self.add_events(connection, span)
            self.add_views(connection, span, prices, tokens=tokens)
            yield connection

    @contextmanager
    def connected_to_runs(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection with `runs_table` alone: what hosts reported about their runs, with all older reports."""
        connection = _connection()
        try:
            _add_table(connection, "all_runs", self.runs, WHOLE, RUNS, "runs")
            condition, values = self.owners.condition()
            for value in values:
                condition = condition.replace("?", quoted(value), 1)
            connection.execute(f"CREATE VIEW runs_table AS SELECT * FROM all_runs WHERE {condition}")
            yield connection
        finally:
            connection.close()

    def add_events(self, connection: duckdb.DuckDBPyConnection, span: Span = WHOLE) -> None:
        """Let a connection see `events_table`, as far as a span needs it."""
        _add_table(connection, "events_table", self.events, span, EVENTS, "events")

    def add_views(
        self,
        connection: duckdb.DuckDBPyConnection,
        span: Span = WHOLE,
        prices: Prices | None = None,
        *,
        tokens: bool = False,
        pairs: bool = False,
    ) -> None:
        """Let a connection that sees both tables see the views over them; those for users need `prices`.

        `tokens`: usage is added up, so make that quick. `pairs`: calls are asked for, and what people ask is not.
        """
        connection.execute(f"CREATE OR REPLACE TEMP TABLE current_runs AS {CURRENT.format(span.of_runs())}")
        if prices is not None or pairs:
            from stenograph.fleet.lake.functions import add_functions
            from stenograph.fold.prices import Prices

            add_functions(connection, Prices({}, "") if prices is None else prices)
        for view in VIEWS:
            if prices is not None or view.is_plain or (pairs and not view.is_public):
                kind = "TEMP TABLE" if tokens and view.name in KEPT else "VIEW"
                connection.execute(f"CREATE {kind} {view.name} AS {view.select}")
        if tokens and not connection.execute(_HAS_REPEATED).fetchall():
            connection.execute(f"CREATE OR REPLACE VIEW usage_calls AS {ONCE}")


def _connection() -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra("duckdb", "lake") from error
    return duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})


def day_of(ms: int | None) -> str | None:
    """The day in UTC of a moment in milliseconds."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _add_table(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    table: DeltaTable,
    span: Span,
    columns: dict[str, tuple[str, str]],
    schema: str,
) -> None:
    """Let SQL see a table, or the files of it that a span needs."""
    lake_library()
    files = files_of(table, span)
    if not files:
        connection.register(name, schema_of(schema).empty_table())
        return
    if all(file.startswith("/") for file in files):
        listed = ", ".join(map(quoted, files))
        by_name = str(not is_uniform(table)).lower()  # otherwise the columns of every file are read
        options = f"union_by_name = {by_name}, hive_partitioning = true, hive_types_autocast = false"
        source = f"read_parquet([{listed}], {options})"
    else:
        connection.register(f"{name}_files", table.to_pyarrow_dataset())
        source = f"{name}_files"
    found = {field.name for field in table.schema().fields}
    wanted = ", ".join(f'"{each}"' if each in found else f'NULL AS "{each}"' for each in columns)
    connection.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT {wanted} FROM {source}")


def files_of(table: DeltaTable, span: Span = WHOLE) -> Sequence[str]:
    """The files of a table that may have something of a span: paths of a folder, or URLs."""
    import pyarrow as pa

    uris = table.file_uris()
    if span == WHOLE:
        return uris
    # Only texts, and not by `pa.table`: either would load pandas, where that is installed.
    actions = pa.RecordBatchReader.from_stream(table.get_add_actions(flatten=True)).read_all()
    found = []
    for action in actions.select([name for name in _ACTION if name in actions.column_names]).to_pylist():
        low = {name: action.get(f"min.{name}") for name in ("day", "run_id")}
        high = {name: action.get(f"max.{name}") for name in ("day", "run_id")}
        if "partition.day" in action:
            low["day"] = high["day"] = action["partition.day"]
        if span.has(low, high):
            found.append(action["path"])
    wanted = set(found)
    root = table.table_uri.removeprefix("file://").rstrip("/") + "/"
    return [uri for uri in uris if uri.removeprefix(root) in wanted]
