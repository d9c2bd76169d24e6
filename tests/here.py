"""Commands of `steno` run in this process: parsed, run and printed as a process does it, without starting one each."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

from stenograph.cli import main

SHEBANG = f"""#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
"""
"""The first lines of a program in Python; a path with spaces cannot stand after `#!`."""


def steno_here(
    *arguments: object, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """How a command ends in a folder, with these variables beside ours, and what it prints."""
    out, err = io.BytesIO(), io.BytesIO()
    with (
        contextlib.chdir(folder or Path.cwd()),
        mock.patch.dict(os.environ, environment or {}),
        mock.patch.object(sys, "argv", ["steno", *map(str, arguments)]),
        _stream("stdout", out),
        _stream("stderr", err),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as ended:
            code = ended.code or 0
    assert isinstance(code, int), code
    return subprocess.CompletedProcess(sys.argv, code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _stream(name: str, target: io.BytesIO) -> Iterator[None]:
    text = io.TextIOWrapper(target, "utf-8", write_through=True)
    try:
        with mock.patch.object(sys, name, text):
            yield
            text.flush()
    finally:
        text.detach()
