"""What the fake models make the agents do, and the words by which the tests know it again."""

from __future__ import annotations

from pathlib import Path

from agents.servers.script import Call, Scripts, Text, Thinking, mark

PROMPT = f"Please look around, 请仔细看。 {mark('main')}"
CHILD_PROMPT = f"Please count the files. {mark('child')}"
SLOW_PROMPT = f"Please take your time. {mark('slow')}"
TEAM_PROMPT = f"Please let somebody else count. {mark('team')}"
NESTED_PROMPT = f"Please let somebody let somebody count. {mark('nested')}"
MIDDLE_PROMPT = f"Please let somebody count. {mark('middle')}"
PARALLEL_PROMPT = f"Please do three things at once. {mark('parallel')}"
NEXT_PROMPT = f"そして？ {mark('next')}"

THOUGHT = "考え中… first a command, then a file."
FIRST_TEXT = "I'll run a command. 見てみます。"
COMMAND = "printf '漢字かな 한국어\\n'"
OUTPUT = "漢字かな 한국어"
NOTES = "Notes of nobody.\n第二行\n"
FAILING = "echo out-text; echo err-text >&2; exit 3"
SECOND_TEXT = "This will fail."
SPAWN_TEXT = "Somebody else may count."
FINAL_TEXT = "完了しました 🎉 All of it is done."

CHILD_THOUGHT = "The child thinks."
CHILD_TEXT = "The child runs a command."
CHILD_COMMAND = "echo from-the-child"
CHILD_ANSWER = "Child answer: 42 files."

PARALLEL_COMMANDS = ("sleep 0.4; echo slow", "cat notes.txt", "echo quick; exit 4")
MIDDLE_ANSWER = "Somebody says 42."

NEXT_TEXT = "以上です。"

SLOW_TEXT = "Starting slow work."
SLOW_COMMAND = "touch started; while [ -e started ]; do sleep 0.1; done"

PATCH = "*** Begin Patch\n*** Add File: 新しい.txt\n+hello 你好\n*** End Patch\n"


def claude(folder: Path) -> Scripts:
    """The scripts for Claude Code at work in a folder; in `team` the subagent works in the background."""

    def bash(command: str) -> Call:
        return Call("Bash", {"command": command, "description": "Run it"})

    child = {"description": "Count files", "prompt": CHILD_PROMPT, "subagent_type": "general-purpose"}
    return {
        "main": [
            [Thinking(THOUGHT), Text(FIRST_TEXT), bash(COMMAND)],
            [Call("Read", {"file_path": str(folder / "notes.txt")})],
            [Text(SECOND_TEXT), bash(FAILING)],
            [Call("Read", {"file_path": str(folder / "nothing.txt")})],
            [Text(SPAWN_TEXT), Call("agent", {**child, "run_in_background": False})],
            [Text(FINAL_TEXT)],
        ],
        "child": [[Thinking(CHILD_THOUGHT), Text(CHILD_TEXT), bash(CHILD_COMMAND)], [Text(CHILD_ANSWER)]],
        "team": [[Text(SPAWN_TEXT), Call("agent", {**child, "run_in_background": True})], [Text(FINAL_TEXT)]],
        "nested": [
            [Call("agent", {**child, "prompt": MIDDLE_PROMPT, "run_in_background": False})],
            [Text(FINAL_TEXT)],
        ],
        "middle": [[Call("agent", {**child, "run_in_background": False})], [Text(MIDDLE_ANSWER)]],
        # The next answer is found by counting results, so three calls at once leave two that are never asked for.
        "parallel": [[Text(FIRST_TEXT), *map(bash, PARALLEL_COMMANDS)], [], [], [Text(FINAL_TEXT)]],
        "next": [[Text(NEXT_TEXT)]],
        "slow": [[Text(SLOW_TEXT), bash(SLOW_COMMAND)], [Text("Too late.")]],
    }


def codex(*, has_agents: bool) -> Scripts:
    """The scripts for Codex; `team` is for its second kind of subagents."""

    def shell(command: str) -> Call:
        return Call("shell", {"command": command})

    spawn = [
        [Text(SPAWN_TEXT), Call("spawn_agent", {"message": CHILD_PROMPT, "agent_type": "default"})],
        [Call("wait_agent", {"targets": ["@agent"], "timeout_ms": 600_000})],
        [Call("close_agent", {"target": "@agent"})],
    ]
    return {
        "main": [
            [Thinking(THOUGHT), Text(FIRST_TEXT), shell(COMMAND)],
            [shell("cat notes.txt")],
            [Call("patch", {"patch": PATCH})],
            [Text(SECOND_TEXT), shell(FAILING)],
            *(spawn if has_agents else []),
            [Text(FINAL_TEXT)],
        ],
        "child": [[Thinking(CHILD_THOUGHT), Text(CHILD_TEXT), shell(CHILD_COMMAND)], [Text(CHILD_ANSWER)]],
        "team": [
            [Call("spawn_agent", {"task_name": "counter", "message": CHILD_PROMPT, "fork_turns": "none"})],
            [Call("wait_agent", {"timeout_ms": 600_000})],
            [Text(FINAL_TEXT)],
        ],
        "next": [[Text(NEXT_TEXT)]],
        "slow": [[Text(SLOW_TEXT), shell(SLOW_COMMAND)], [Text("Too late.")]],
    }
