"""`steno hook`: what an agent calls at every step."""

from __future__ import annotations

import click

from stenograph.cli.installing.ways import agents_that_call
from stenograph.cli.wake import answer


@click.command(
    "hook",
    epilog="Example: steno hook claude < call.json",
    short_help="Take a hook call of an agent, and see that its session is recorded.",
)
@click.argument("agent", type=click.Choice(list(agents_that_call())))
@click.argument("more", required=False, default="")
@click.argument("call", required=False)
@click.pass_context
def command(ctx: click.Context, agent: str, more: str, call: str | None) -> None:
    """Take a hook call and start recording that session where nobody does yet.

    The call is JSON on standard input; MORE is the process that calls. Or it is CALL, with the id of the session in the
    field MORE.

    `steno install` makes an agent call it. It answers at once, prints nothing and never fails; what went wrong is in
    collectors/problems.log below $STENOGRAPH_STORAGE, else below the archive, else in $TMPDIR/stenograph-UID.
    """
    ctx.exit(answer(agent, more, call))
