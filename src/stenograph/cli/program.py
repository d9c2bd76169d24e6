"""The command line as click knows it: one group, whose commands are loaded when they are used."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from stenograph.cli import COMMANDS
from stenograph.errors import StenographError
from stenograph.version import __version__


class _Commands(click.Group):
    """Loads a command's module only when that command is called, so that the program starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"stenograph.cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="steno", message="%(prog)s %(version)s")
def cli() -> None:
    """One faithful transcript for every AI agent.

    RUN is a run id or the unique beginning of one, looked up in --root, else in $STENOGRAPH_STORAGE, else in ./storage
    and the archive ($STENOGRAPH_HOME); @ or last is the newest run of the archive, @2 the one before. PATH is a
    journal, an agent's own file or folder, opencode.db#SESSION, or a bundle.

    Exit codes: 0 ok, 1 problems found, 2 usage, 3 cannot read, 4 cannot write.
    """


def run() -> None:
    """Run the command line; what we raise on purpose is one line on stderr and an exit code."""
    try:
        code = cli.main(standalone_mode=False)
    except click.UsageError as error:
        error.show()
        code = error.exit_code
    except click.exceptions.Exit as error:
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except StenographError as error:
        click.echo(f"steno: {error}", err=True)
        code = error.exit_code
    sys.exit(code)
