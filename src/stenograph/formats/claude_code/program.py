"""How the agent's program is started."""

from __future__ import annotations

from stenograph.formats.base import Program

PROGRAM = Program(resume=("claude", "--resume", "{session}"), begin=("claude", "{prompt}"))
