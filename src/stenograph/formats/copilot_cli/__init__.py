"""copilot_cli: the session files of GitHub Copilot CLI, subagents included."""

from stenograph.formats.copilot_cli.spec import SPEC

__all__ = ["SPEC"]
