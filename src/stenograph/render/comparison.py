"""A comparison of two runs as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stenograph.fold.compare import CallPairing, Comparison, Figure, FilePair, TurnPair
from stenograph.fold.explain import FileFacts
from stenograph.render.section import section, short

_SIGNS = {"same": " ", "changed": "~", "changed_input": "~", "changed_result": "≠", "only_left": "-", "only_right": "+"}
_MOST = 40
_LONGEST = 100


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """The lines: `-` and `+` for what only the first or second run has, `~` for changes, `≠` for another result."""
    yield f"- {comparison.left}"
    yield f"+ {comparison.right}"
    yield from _section("figures", map(_figure, comparison.figures))
    counts = ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in comparison.calls_by_kind.items())
    yield from _section("prompts and answers", (line for turn in comparison.turns for line in _turn(turn)))
    yield from _section(f"calls ({counts})", (_call(call) for call in comparison.calls if call.what != "same"))
    yield from _section("files", map(_file, comparison.files))
    yield ""
    yield "the same prompts, answers, calls and files" if comparison.is_same else "the runs differ"


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    return section(title, rows, _MOST, "diff")


def _figure(figure: Figure) -> str:
    left, right = figure.left, figure.right
    change = "" if left is None or right is None or left == right else f"  ({right - left:+,g})"
    return f"{figure.name:<24} {number(left):>12} {number(right):>12}{change}"


def number(value: float | None) -> str:
    """A number with separated thousands; `?` where it is not known."""
    return "?" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _turn(turn: TurnPair) -> Iterator[str]:
    left, right = turn.left, turn.right
    if turn.prompt == "same" and left is not None:
        if left.prompt or turn.answer != "same":
            yield f"  {_short(left.prompt)}"
    else:
        if left is not None:
            yield f"- {_short(left.prompt)}"
        if right is not None:
            yield f"+ {_short(right.prompt)}"
    if turn.answer == "changed" and left is not None and right is not None:
        yield f"    - {_short(left.answer)}"
        yield f"    + {_short(right.answer)}"


def _call(call: CallPairing) -> str:
    sign = _SIGNS[call.what]
    places = " ".join(f"#{seq}" for seq in (call.left_seq, call.right_seq) if seq is not None)
    targets = [_short(target, 45) for target in (call.left_target, call.right_target) if target is not None]
    return f"{sign} {call.name} {places}: {' → '.join(dict.fromkeys(targets))}"


def _file(file: FilePair) -> str:
    return f"{_SIGNS[file.what]} {_short(file.path)}  {_lines(file.left)} {_lines(file.right)}".rstrip()


def _lines(file: FileFacts | None) -> str:
    return "" if file is None else f"+{file.added} -{file.removed}"


def _short(text: str, most: int = _LONGEST) -> str:
    return short(text, most)
