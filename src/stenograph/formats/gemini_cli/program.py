"""How the agent's program is started."""

from __future__ import annotations

from stenograph.formats.base import Program

PROGRAM = Program(resume=("gemini", "--resume", "{session}"), begin=("gemini", "--prompt-interactive", "{prompt}"))
