"""The hook: what an agent waits for at every step."""

from __future__ import annotations

import fcntl
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import Row

SESSION = "550e8400-e29b-41d4-a716-446655440000"
ROUNDS = 31


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    return [_hook(folder)]


def _hook(folder: Path) -> Row:
    """A call for a session that is being collected, as nearly all are, by the program that agents call."""
    home = folder / "home"
    collectors = home / ".local" / "share" / "stenograph" / "collectors"
    collectors.mkdir(parents=True)
    call = {"transcript_path": str(folder / f"{SESSION}.jsonl"), "hook_event_name": "PostToolUse", "x": "y" * 20_000}
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    steno = str(Path(sys.executable).with_name("steno"))
    with (collectors / SESSION).open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        bare, ours = [], []
        for _ in range(ROUNDS):
            bare.append(_took([sys.executable, "-c", "pass"], b"", environment))
            ours.append(_took([steno, "hook", "claude"], json.dumps(call).encode(), environment))
    over = statistics.median(mine - limit for mine, limit in zip(ours, bare, strict=True))
    return Row(
        "answer a hook call",
        "≤ 60 ms over a bare interpreter",
        f"{statistics.median(ours):.0f} ms, {over:.0f} ms over",
        f"{statistics.median(bare):.0f} ms (python -c pass)",
        over <= 60,
    )


def _took(command: list[str], given: bytes, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=given, env=environment, check=True)
    return (time.perf_counter() - began) * 1000
