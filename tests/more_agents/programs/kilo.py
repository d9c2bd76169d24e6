"""Kilo: OpenCode's program at another place."""

from __future__ import annotations

import json

from agents.errand import opencode_tools
from agents.opencode import settings
from comparison import oracle
from more_agents.installing import Npm
from more_agents.real_agent import Place, RealAgent


def prepare(place: Place) -> list[str]:
    """A provider of its own, by Kilo's name for OpenCode's settings; nothing is fetched or sent.

    Without snapshots: where one takes long, Kilo says so among the model's words, and takes it back later.
    """
    own = {"permission": "allow", "snapshot": False}
    place.write(".config/kilo/kilo.json", json.dumps({**settings(place.url), **own}))
    quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SESSION_INGEST", "SHARE")
    place.environment |= {f"KILO_DISABLE_{name}": "1" for name in quiet} | {"KILO_TELEMETRY_LEVEL": "off"}
    return [*place.program, "run", "--format", "json", "--auto"]


AGENT = RealAgent(
    format_name="kilo",
    agent_id="kilo",
    program=Npm("@kilocode/cli", "7.7.7", "@kilocode/cli-*/bin/kilo", is_script=False),
    prepare=prepare,
    tools=opencode_tools,
    count=lambda home: oracle("kilo").count_database(home / ".local" / "share" / "kilo" / "kilo.db"),
)
