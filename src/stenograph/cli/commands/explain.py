"""`steno explain`: a run summarized from its facts."""

from __future__ import annotations

import click

from stenograph.cli.completion import RUN
from stenograph.cli.options import (
    archive_option,
    json_option,
    print_json,
    redact_option,
    report_masked,
    report_problems,
    root_option,
    write_text,
)
from stenograph.cli.scope import prices_option
from stenograph.fold.explain import explain
from stenograph.query.prices import load_prices
from stenograph.render.explanation import explanation_lines
from stenograph.runs.opening import open_run


@click.command("explain", epilog="Example: steno explain @")
@click.argument("target", type=RUN, metavar="RUN|PATH")
@prices_option
@redact_option
@root_option
@archive_option
@json_option
def command(
    target: str, prices: str | None, redact: bool, root: str | None, archive_dir: str | None, as_json: bool
) -> None:
    """Print what was asked, what changed, what failed and was retried, where time and tokens went, and how it ended.

    Facts only, counted as everywhere else; no model is asked.
    """
    with open_run(target, root=root, archive=archive_dir, redact=redact) as run:
        facts = explain(run.events(keep_raw=False), load_prices(prices), run.kind.life())
        if as_json:
            print_json(facts)
        else:
            write_text("".join(f"{line}\n" for line in explanation_lines(facts)))
        report_problems(run.problems())
        if redact:
            report_masked(run.masked)
