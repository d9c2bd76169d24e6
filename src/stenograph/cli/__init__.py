"""The command `steno`: parse, call, print. Each command is a module of its own, loaded when it is used.

An agent waits for `steno hook AGENT` at every step, so that one call goes by a short way that loads next to nothing.
"""

from __future__ import annotations

import sys

from stenograph.lazy import NOT_ON_WINDOWS

COMMANDS = {
    "demo": "Run a small recorded workflow and watch its transcript live.",
    "run": "Run a command, an agent or any other, and record it.",
    "show": "Print the transcript of a run.",
    "text": "Write a run as plain-text files, one per unit.",
    "tail": "Print the events of a run, and go on as they come.",
    "tree": "Print the steps and sub-workflows of a run.",
    "sync": "Keep and index what agents left on this machine.",
    "watch": "Keep the archive up to date until interrupted.",
    "ls": "List the runs of the archive.",
    "ps": "List the runs that work or wait now.",
    "search": "Find what was said and done.",
    "blame": "Say which run, prompt and event last changed a file or line.",
    "errors": "List what failed in a run.",
    "files": "List the files a run read and changed.",
    "sql": "Ask the archive in SQL.",
    "explain": "Say what happened in a run, in facts.",
    "diff": "Compare two runs, or many with one.",
    "stats": "Add up tokens, cost and tools.",
    "replay": "Run an agent again with the recorded answers of its model.",
    "restore": "Give back the agent's own files of a run.",
    "receive": "Record agents that send OpenTelemetry (OTLP).",
    "serve": "Show the runs in a browser, live.",
    "export": "Write runs in the formats that others read.",
    "forget": "Remove runs from the archive, on purpose and for good.",
    "push": "Send the archive to a bucket or a shared folder.",
    "pull": "Bring an archive back from a bucket or a shared folder.",
    "lake": "Make one open table of many archives, or of a bucket of transcripts.",
    "evidence": "Sign what the archive keeps, and check that it was not changed.",
    "bundle": "Pack a run with everything needed to understand it.",
    "query": "Ask a debug bundle in SQL.",
    "resume": "Print or run the command that goes on with a run.",
    "verify": "Check journals for gaps, torn tails, open ends and permissions.",
    "check": "Check runs against rules, for CI.",
    "secrets": "Say where secrets stand in runs.",
    "mcp": "Let agents ask for their own history (MCP).",
    "convert": "Print agents' files as canonical events.",
    "detect": "Say in which format files are written.",
    "formats": "List the formats that can be read.",
    "doctor": "Look at everything, and say what needs a person.",
    "config": "Print the configuration in force, and where each value comes from.",
    "repair": "Set the torn tail of a journal aside.",
    "install": "Make an agent tell us of its sessions, or no longer.",
    "hook": "Take a hook call of an agent, and see that its session is recorded.",
    "collect": "Follow a session of an agent and record it.",
}
"""Every command with what it does; the module of the same name holds it."""

GROUPS = {
    "Record": ("run", "install", "collect", "receive", "demo"),
    "Keep": ("sync", "watch", "restore", "forget", "evidence", "push", "pull", "lake"),
    "Find": (
        "ls",
        "ps",
        "search",
        "show",
        "tail",
        "tree",
        "files",
        "blame",
        "errors",
        "explain",
        "diff",
        "stats",
        "sql",
    ),
    "Share": ("serve", "export", "bundle", "query", "text", "mcp", "replay", "resume"),
    "Check": ("doctor", "verify", "repair", "check", "secrets", "config"),
    "Formats": ("formats", "detect", "convert"),
}
"""The commands in groups, as help lists them; those that `COMMANDS` does not have are left out."""

HIDDEN = ("hook",)
"""Commands that programs call, and help does not list."""


_HOOK_CALL = (3, 4, 5)
"""Words of a hook call: one more where it names the process, two where the call itself is an argument."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.platform == "win32":
        sys.stderr.write(f"steno: {NOT_ON_WINDOWS}\n")
        sys.exit(2)
    if (
        len(sys.argv) in _HOOK_CALL
        and sys.argv[1] == "hook"
        and not any(word.startswith("-") for word in sys.argv[2:4])
    ):
        from stenograph.cli.wake import answer

        sys.exit(answer(*sys.argv[2:]))
    from stenograph.cli.program import run

    run()


def __getattr__(name: str) -> object:
    """`cli`, the whole command line, loaded when somebody asks for it."""
    if name != "cli":
        raise AttributeError(f"module 'stenograph.cli' has no attribute {name!r}")
    from stenograph.cli.program import cli

    return cli
