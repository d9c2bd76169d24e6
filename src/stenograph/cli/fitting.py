"""A table for people that fits their terminal: a column that is missing is better than ids and numbers that are cut."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from stenograph.cli.table import print_rows

_GAP = 2


def print_fitting(
    head: Sequence[str], rows: Sequence[Sequence[object]], dispensable: Sequence[str], least_for_last: int
) -> None:
    """Print rows; a narrow terminal does without the dispensable columns, first things first.

    The last column is cut where need be, but gets at least so many characters.
    """
    places = list(range(len(head)))
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns
        widths = [max(len(str(row[place])) for row in [head, *rows]) + _GAP for place in places]
        widths[-1] = min(widths[-1] - _GAP, least_for_last)
        for name in dispensable:
            if sum(widths[place] for place in places) > room:
                places.remove(head.index(name))
    print_rows([head[place] for place in places], [[row[place] for place in places] for row in rows])
