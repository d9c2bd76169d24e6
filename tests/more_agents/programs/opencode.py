"""OpenCode: the example. `make agents` has its deeper tests."""

from __future__ import annotations

import json

from agents.errand import opencode_tools
from agents.opencode import settings
from agents.programs import OPENCODE
from comparison import oracle
from more_agents.installing import Npm
from more_agents.real_agent import Place, RealAgent


def prepare(place: Place) -> list[str]:
    """A provider of its own in the project's settings; nothing is fetched."""
    (place.work / "opencode.json").write_text(json.dumps(settings(place.url)), "utf-8")
    place.environment |= {f"OPENCODE_DISABLE_{name}": "1" for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}
    return [*place.program, "run", "--format", "json"]


AGENT = RealAgent(
    format_name="opencode",
    agent_id="opencode",
    program=Npm("opencode-ai", OPENCODE, "opencode-*-*/bin/opencode", is_script=False),
    prepare=prepare,
    tools=opencode_tools,
    count=lambda home: oracle("opencode").count_database(home / ".local" / "share" / "opencode" / "opencode.db"),
)
