"""`steno diff`: two runs compared, or several with one."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from stenograph.cli.completion import RUN
from stenograph.cli.options import archive_option, json_option, print_json, report_problems, root_option, write_text
from stenograph.cli.scope import prices_option
from stenograph.cli.table import print_rows
from stenograph.fold.compare import Comparison, compare
from stenograph.fold.explain import Explained, explained
from stenograph.fold.prices import Prices
from stenograph.query.prices import load_prices
from stenograph.render.comparison import comparison_lines
from stenograph.runs.opening import open_run


@click.command("diff", epilog="Example: steno diff @2 @")
@click.argument("targets", type=RUN, metavar="RUN|PATH...", nargs=-1, required=True)
@click.option("--base", type=RUN, metavar="RUN|PATH", help="Compare each of the runs with this one, as a table.")
@click.option("--redact", is_flag=True, help="Mask secrets.")
@prices_option
@root_option
@archive_option
@json_option
def command(
    targets: tuple[str, ...],
    base: str | None,
    redact: bool,
    prices: str | None,
    root: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Compare two runs: prompts, calls, answers, files changed, tokens, cost and time.

    Turns are aligned by their prompts, calls by tool and input. With --base, each run is compared with that one and
    printed as one row.

    Exit code 1 when prompts, answers, calls or files differ; tokens, cost and time alone are not a difference.
    """
    if base is None and len(targets) != 2:
        raise click.UsageError("Give two runs, or --base RUN and the runs to compare with it.")
    table = load_prices(prices)
    first, *rest = targets if base is None else (base, *targets)
    base_run = _read(first, root, archive_dir, redact, table)
    found = [compare(base_run, _read(each, root, archive_dir, redact, table)) for each in rest]
    if base is None:
        _print(found[0], as_json)
    else:
        _print_rows(found, as_json)
    if not all(each.is_same for each in found):
        raise click.exceptions.Exit(1)


def _read(target: str, root: str | None, archive_dir: str | None, redact: bool, prices: Prices) -> Explained:
    with open_run(target, root=root, archive=archive_dir, redact=redact) as run:
        facts = explained(run.events(keep_raw=False), prices)
        report_problems(run.problems())
    return facts


def _print(found: Comparison, as_json: bool) -> None:
    if as_json:
        print_json({"is_same": found.is_same, **msgspec.to_builtins(found)})
    else:
        write_text("".join(f"{line}\n" for line in comparison_lines(found)))


def _print_rows(found: list[Comparison], as_json: bool) -> None:
    rows = [_row(each) for each in found]
    base = {"run_id": found[0].left, "is_same": True, **{figure.name: figure.left for figure in found[0].figures}}
    everything = [{**dict.fromkeys(rows[0]), **base}, *rows]
    print_rows(list(rows[0]), [list(row.values()) for row in everything], "json" if as_json else None)


def _row(found: Comparison) -> dict[str, Any]:
    figures = {figure.name: figure.right for figure in found.figures}
    changed = {"changed_prompts": sum(turn.prompt != "same" for turn in found.turns)}
    calls = {f"{kind}_calls": number for kind, number in found.calls_by_kind.items()}
    return {"run_id": found.right, "is_same": found.is_same, **figures, **changed, **calls}
