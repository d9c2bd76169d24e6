"""The command that runs against a replay: its environment, and its additional options."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import PurePath

KEY = "steno-replay"
"""A placeholder for an API key: no server checks it, but programs require one."""
_CODEX_PROVIDER = '{{name="steno replay",base_url="{url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}}'
_LOCAL = "127.0.0.1,localhost"


def environment_for(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which the usual libraries and agents use the replay instead of a model."""
    found = {name: value for name, value in environment.items() if name != "ANTHROPIC_AUTH_TOKEN"}
    for name in ("no_proxy", "NO_PROXY"):
        found[name] = ",".join(filter(None, [environment.get(name), _LOCAL]))
    return found | {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": KEY,
    }


def command_for(url: str, words: Sequence[str]) -> list[str]:
    """The command itself; Codex accepts the address of its model only in its configuration."""
    if PurePath(words[0]).name != "codex":
        return list(words)
    provider = _CODEX_PROVIDER.format(url=url)
    options = ["-c", 'model_provider="steno_replay"', "-c", f"model_providers.steno_replay={provider}"]
    return [words[0], *options, *words[1:]]


def run_program(url: str, words: Sequence[str]) -> int:
    """Run a command to its end against a replay; returns its exit code, or 128 plus the signal that ended it.

    Raises `OSError` when it cannot be started.
    """
    process = subprocess.Popen(command_for(url, words), env=environment_for(url, os.environ))
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:  # the terminal sent it to the command, too, which handles it
            continue
        return code if code >= 0 else 128 - code
