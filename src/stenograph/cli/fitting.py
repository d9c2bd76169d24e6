"""A table for people that fits their terminal: a column that is missing is better than ids and numbers that are cut."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from stenograph.cli.table import print_rows
from stenograph.cli.terminal import width

_GAP = 2


def print_fitting(
    head: Sequence[str], rows: Sequence[Sequence[object]], dispensable: Sequence[str], flexible: str, least: int
) -> None:
    """Print rows; a narrow terminal does without the dispensable columns, first things first.

    The flexible column is cut where need be, but gets at least so many columns of the terminal; no other one is cut.
    """
    places = list(range(len(head)))
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns + _GAP
        widths = [max(width(str(row[place])) for row in [head, *rows]) + _GAP for place in places]
        bends = head.index(flexible)
        widths[bends] = min(widths[bends], least + _GAP)
        for name in dispensable:
            if sum(widths[place] for place in places) > room:
                places.remove(head.index(name))
    shown = [head[place] for place in places]
    rows = [[row[place] for place in places] for row in rows]
    print_rows(shown, rows, uncut=[name for name in shown if name != flexible])
