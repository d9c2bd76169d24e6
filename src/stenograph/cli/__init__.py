"""The command `steno`: parse, call, print. Each command is a module of its own, loaded when it is used.

An agent waits for `steno hook AGENT` at every step, so that command takes a short path that loads next to nothing.
"""

from __future__ import annotations

import sys

from stenograph.lazy import NOT_ON_WINDOWS

COMMANDS = {
    "demo": "Run a small recorded workflow and watch its transcript live.",
    "run": "Run a command, an agent or anything else, and record it.",
    "show": "Print the transcript of a run.",
    "text": "Write a run as plain-text files, one per unit.",
    "tail": "Print the events of a run, and follow new ones.",
    "tree": "Print the steps and sub-workflows of a run.",
    "sync": "Keep and index what agents left on this machine.",
    "watch": "Keep the archive up to date until interrupted.",
    "ls": "List the runs of the archive.",
    "ps": "List the runs that are working or waiting now.",
    "search": "Find what was said and done.",
    "blame": "Say which run, prompt and event last changed a file or line.",
    "errors": "List what failed in a run.",
    "files": "List the files a run read and changed.",
    "sql": "Query the archive with SQL.",
    "explain": "Summarize what happened in a run, from its facts.",
    "diff": "Compare two runs, or several with one.",
    "stats": "Show token, cost and tool totals.",
    "replay": "Run an agent again with the recorded answers of its model.",
    "restore": "Restore the agent's own files of a run.",
    "receive": "Record agents that send OpenTelemetry (OTLP).",
    "serve": "Show the runs in a browser, live.",
    "export": "Write runs in formats that other tools read.",
    "forget": "Remove runs from the archive for good.",
    "push": "Send the archive to a bucket or a shared folder.",
    "pull": "Bring an archive back from a bucket or a shared folder.",
    "lake": "Build one open table from many archives, or from a bucket of transcripts.",
    "evidence": "Sign what the archive keeps, and check that it was not changed.",
    "bundle": "Pack a run with everything needed to understand it.",
    "query": "Query a debug bundle with SQL.",
    "resume": "Print or run the command that continues a run.",
    "verify": "Check journals for gaps, torn tails, open ends and permissions.",
    "check": "Check runs against rules, for CI.",
    "secrets": "Report where runs contain secrets.",
    "mcp": "Let agents query their own history (MCP).",
    "convert": "Print agents' files as canonical events.",
    "detect": "Report the format of files.",
    "formats": "List the formats that can be read.",
    "doctor": "Check everything, and report what needs attention.",
    "config": "Print the configuration in force, and where each value comes from.",
    "repair": "Set the torn tail of a journal aside.",
    "install": "Install or remove the hook that records an agent's sessions.",
    "hook": "Handle an agent's hook call, and record its session.",
    "collect": "Follow an agent's session and record it.",
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
"""The commands in groups, as help lists them; names that are not in `COMMANDS` are left out."""

HIDDEN = ("hook",)
"""Commands that programs call, and help does not list."""


_HOOK_CALL = (3, 4, 5)
"""Lengths of a hook call's argv: one more if it names the process, two if the call itself is an argument."""


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
        from stenograph.cli.hook_call import answer

        sys.exit(answer(*sys.argv[2:]))
    from stenograph.cli.program import run

    run()
