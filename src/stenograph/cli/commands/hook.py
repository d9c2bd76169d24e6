"""`steno hook`: what an agent calls at every step."""

from __future__ import annotations

import click

from stenograph.cli.commands.install import agents_with
from stenograph.cli.wake import answer


@click.command(
    "hook",
    epilog="Example: steno hook claude < call.json",
    short_help="Take a hook call of an agent, and see that its session is recorded.",
)
@click.argument("agent", type=click.Choice(agents_with(hooks=True)))
@click.pass_context
def command(ctx: click.Context, agent: str) -> None:
    """Take a hook call from standard input and start recording that session where nobody does yet.

    `steno install` makes an agent call it. It answers at once, prints nothing and never fails; what went wrong is in
    collectors/problems.log below $STENOGRAPH_STORAGE, else below the archive, else in $TMPDIR/stenograph-UID.
    """
    ctx.exit(answer(agent))
