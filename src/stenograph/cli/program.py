"""The command line as click knows it: one group, whose commands are loaded when they are used."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module

import click

from stenograph.cli import COMMANDS, GROUPS
from stenograph.errors import StenographError
from stenograph.render.control_chars import on_one_line, visible
from stenograph.version import __version__


class _Commands(click.Group):
    """Loads a command's module only when that command is called, so that the program starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"stenograph.cli.commands.{cmd_name}").command
        command.short_help = COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_unknown(args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name, COMMANDS[name]) for name in names if name in COMMANDS])


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # only where there is a mistake

    nearest = get_close_matches(name, COMMANDS, n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(nearest)}?" if nearest else "steno --help lists the commands"
    return f"unknown command {name[:80]!r}; {hint}"


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="steno", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """One faithful transcript for every AI agent.

    RUN is a run id or the unique beginning of one, looked up in --root, else in $STENOGRAPH_STORAGE, else in ./storage
    and the archive ($STENOGRAPH_HOME); @ or last is the newest run of the archive, @2 the one before. PATH is a
    journal, an agent's own file or folder, opencode.db#SESSION, or a bundle.

    Exit codes: 0 ok, 1 problems found, 2 usage, 3 cannot read, 4 cannot write.
    """
    if ctx.invoked_subcommand is None:
        click.echo(_overview())


def _overview() -> str:
    """What `steno` prints without arguments: the groups of commands and one next step."""
    width = max(map(len, GROUPS))
    lines = ["steno: one faithful transcript for every AI agent.", ""]
    for group, names in GROUPS.items():
        lines.append(f"  {group:{width}}  {' '.join(name for name in names if name in COMMANDS)}")
    return "\n".join(
        [*lines, "", _next_step(), "steno --help describes the commands, steno COMMAND --help one of them."]
    )


def _next_step() -> str:
    from stenograph.archive.store.home import home_of

    if home_of().index.is_file():
        return "Next: steno ls lists your runs, and steno show @ prints the newest."
    return "Next: steno sync archives what the agents on this machine wrote; then steno ls lists the runs."


def run() -> None:
    """Run the command line; our own errors become one line on stderr and an exit code.

    Arguments and file names are printed with control characters made visible.
    """
    if sys.argv[1:2] != ["run"]:  # its command gets the streams as they are, closed ones, too
        _open_closed_streams()
    try:
        code = cli.main(standalone_mode=False)
    except click.UsageError as error:
        click.UsageError(visible(error.format_message()), error.ctx).show()
        code = error.exit_code
    except click.ClickException as error:
        click.echo(f"steno: {on_one_line(error.format_message())}", err=True)
        code = error.exit_code
    except click.exceptions.Exit as error:
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except StenographError as error:
        click.echo(f"steno: {on_one_line(str(error))}", err=True)
        code = error.exit_code
    except OSError as error:  # click prints help and version by itself
        if error.errno not in _OF_OUTPUT or error.filename is not None:
            raise
        from stenograph.cli.options import cannot_write

        code = cannot_write(error)
    sys.exit(code)


_OF_OUTPUT = (errno.EBADF, errno.EIO, errno.ENOSPC)


def _open_closed_streams() -> None:
    """Replace standard streams that the caller closed (`>&-`), which are None in Python.

    Reading gives nothing, what is said on standard error is dropped, and writing the output fails like on a full disk.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
