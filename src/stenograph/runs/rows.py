"""Immutable rows, one step from a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar


class HasColumns(Protocol):
    """A row that returns its columns by name."""

    def to_dict(self) -> dict[str, Any]:
        """The columns as plain values."""
        ...


T = TypeVar("T", bound=HasColumns)


class Row(Mapping[str, Any]):
    """One row: its columns by name, in order. Immutable."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_dict(self) -> dict[str, Any]:
        """The columns as plain values, by their names."""
        return dict(self._columns)

    def __hash__(self) -> int:
        return hash(tuple(self._columns))

    def __repr__(self) -> str:
        return f"Row({self._columns!r})"


class Rows(tuple[T, ...]):
    """Rows in their order. `pandas.DataFrame(rows.to_dicts())` or `polars.DataFrame(rows.to_dicts())` is a table."""

    __slots__ = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every row as a dict of plain values, by column."""
        return [row.to_dict() for row in self]


def distinct(columns: Sequence[str]) -> list[str]:
    """Distinct names for the columns of a row: a second `n` becomes `n_2`."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names
