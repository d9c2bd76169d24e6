"""`steno hook`: what an agent calls at every step."""

from __future__ import annotations

import click

from stenograph.cli.hook_call import answer
from stenograph.cli.installing.ways import agents_that_call


@click.command(
    "hook",
    epilog="Example: steno hook claude < call.json",
)
@click.argument("agent", type=click.Choice(list(agents_that_call())))
@click.argument("more", required=False, default="")
@click.argument("call", required=False)
@click.pass_context
def command(ctx: click.Context, agent: str, more: str, call: str | None) -> None:
    """Handle a hook call: start recording the session unless it is already recorded.

    The call is JSON on standard input, and MORE is the calling process; or the call is CALL, with the id of the session
    in its field MORE.

    `steno install` makes an agent call it. It returns at once, prints nothing and never fails. Failures are logged in
    collectors/problems.log in $STENOGRAPH_STORAGE, else in the archive, else in $TMPDIR/stenograph-UID.
    """
    ctx.exit(answer(agent, more, call))
