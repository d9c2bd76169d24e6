"""One errand for every agent, and what each of them reports of it.

The errand is a list of rows, one for every entry that a whole report has. An agent's account must have all of them, in
order and with the errand's words, plus what `DETOURS` says that it does in more steps. Beside the rows are facts that
an account may give or not; what an agent does not report is in `UNREPORTED`. Both tables must be true, and no less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from golden_cases import FOLDER, input_of
from stenograph.fold.messages import messages
from stenograph.fold.usage import usage_totals
from stenograph.model import Event
from stenograph.sources import convert
from stenograph.sources.detection import format_named
from stenograph.transcript import TranscriptEntry
from stenograph.transcript.project import entries

IGNORED = frozenset({"system_event", "token_usage", "unknown"})
"""The entry types that a comparison of two agents leaves out."""

PROMPT = "Please look around, 请仔细看。 [[script:errand]]"
THOUGHT = "考え中… first a command, then a file."
FIRST_TEXT = "I'll run a command. 見てみます。"
COMMAND = "printf '漢字かな 한국어\\n'"
SECOND_TEXT = "Two things will fail."
FAILING = "echo out-text; echo err-text >&2; exit 3"
SPAWN_TEXT = "Somebody else may count."
FINAL_TEXT = "完了しました 🎉 All of it is done."
CHILD_PROMPT = "Please count the files. [[script:child_errand]]"
CHILD_THOUGHT = "数える前に考える。"
CHILD_TEXT = "I count them."
CHILD_COMMAND = "echo 四十二"
CHILD_ANSWER = "There are 42 files."


@dataclass(frozen=True)
class Agent:
    """Whose account it is."""

    name: str
    version: str


AGENTS: Mapping[str, Agent] = {
    "claude_code": Agent("Claude Code", "2.1.325"),
    "codex_rollout": Agent("Codex", "0.166.0"),
    "gemini_cli": Agent("Gemini CLI", "0.61.0"),
    "copilot_cli": Agent("Copilot CLI", "1.0.102"),
    "opencode": Agent("OpenCode", "1.18.33"),
    "qwen_code": Agent("Qwen Code", "0.24.4"),
    "pi": Agent("pi", "0.87.1"),
    "kilo": Agent("Kilo", "7.7.7"),
    "cline": Agent("Cline", "3.0.65"),
    "continue_session": Agent("Continue", "1.5.47"),
    "openclaw": Agent("OpenClaw", "2026.9.6"),
    "hermes_agent": Agent("Hermes Agent", "0.19.0"),
    "mini_swe_agent": Agent("mini-swe-agent", "2.4.6"),
    "gptme": Agent("gptme", "0.35.1"),
    "kimi_code": Agent("Kimi Code", "2.1.0"),
    "kimi_cli": Agent("kimi-cli", "1.45.0"),
    "openhands": Agent("OpenHands", "1.16.0"),
}
"""By the format of what they leave on disk."""


@dataclass(frozen=True)
class Row:
    """One entry of a whole report."""

    what: str
    entry_type: str
    words: str = ""
    """What its content must hold."""


MAIN = (
    Row("the prompt", "user_message", PROMPT),
    Row("a thought", "thinking", THOUGHT),
    Row("words in two scripts", "assistant_message", FIRST_TEXT),
    Row("a shell command", "tool_use", "漢字かな 한국어"),
    Row("what it printed", "tool_result", "漢字かな 한국어"),
    Row("a file to read", "tool_use", "notes.txt"),
    Row("what is in it", "tool_result", "第二行"),
    Row("words", "assistant_message", SECOND_TEXT),
    Row("a command that exits with 3", "tool_use", "exit 3"),
    Row("its failure", "tool_result", "err-text"),
    Row("a file that is not there", "tool_use", "nothing.txt"),
    Row("that it is not", "tool_result"),
    Row("words again", "assistant_message", SPAWN_TEXT),
    Row("a task for a subagent", "tool_use", CHILD_PROMPT),
    Row("the subagent's answer", "tool_result", CHILD_ANSWER),
    Row("the last words", "assistant_message", FINAL_TEXT),
)
CHILD = (
    Row("its task", "user_message", CHILD_PROMPT),
    Row("its thought", "thinking", CHILD_THOUGHT),
    Row("its words", "assistant_message", CHILD_TEXT),
    Row("its command", "tool_use", "四十二"),
    Row("what that printed", "tool_result", "四十二"),
    Row("its answer", "assistant_message", CHILD_ANSWER),
)


@dataclass(frozen=True)
class Detour:
    """What one agent does in more steps than the others."""

    after: str
    """The row that they follow."""
    rows: tuple[Row, ...]
    reason: str


DETOURS: Mapping[str, Detour] = {
    "codex_rollout": Detour(
        after="a task for a subagent",
        rows=(Row("that the subagent works", "tool_result"), Row("waiting for it", "tool_use")),
        reason="Its model asks for a subagent with one call, and with another waits for its answer.",
    ),
    "gemini_cli": Detour(
        after="its answer",
        rows=(Row("the answer handed over", "tool_use", CHILD_ANSWER), Row("that it was", "tool_result")),
        reason="Its subagents end with a call that hands their answer over.",
    ),
    "mini_swe_agent": Detour(
        after="the last words",
        rows=(
            Row("the work handed in", "tool_use", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
            Row("that it ends there", "tool_result"),
        ),
        reason="Its model ends a run with a command, which is not run.",
    ),
    "gptme": Detour(
        after="the last words",
        rows=(Row("that it is done", "tool_use"), Row("that the session ends", "tool_result")),
        reason="Without a person, its model ends a session with a call.",
    ),
    "kimi_cli": Detour(
        after="its answer",
        rows=(Row("a wish for more", "user_message"), Row("the answer again", "assistant_message", CHILD_ANSWER)),
        reason="It asks a subagent once more whose answer is short.",
    ),
}


def without_subagent(reason: str) -> dict[str, str]:
    """What `LEFT_OUT` says of an agent that has no subagents."""
    rows = ("words again", "a task for a subagent", "the subagent's answer", *(row.what for row in CHILD))
    return dict.fromkeys(rows, reason)


LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "openclaw": without_subagent("Its subagents are sessions that its gateway runs; the task was run without it."),
    "mini_swe_agent": without_subagent("It has no subagents."),
    "gptme": without_subagent("A subagent of its is a conversation of its own, which no record links to the first."),
    "pi": without_subagent("It has no subagents; an extension may bring some."),
    "hermes_agent": without_subagent("Its subagents work in the background, and end with the program."),
    "continue_session": {
        "a thought": "It does not keep thinking.",
        **without_subagent("It has no subagents, unless a beta option brings them."),
    },
}
"""By agent, the rows that its account does not have, each with the reason."""


def rows_of(format_name: str, rows: tuple[Row, ...]) -> list[Row]:
    """The rows of an agent's account: `MAIN` or `CHILD`, with its detour, without what is left out."""
    detour = DETOURS.get(format_name)
    found: list[Row] = []
    for row in rows:
        if row.what not in LEFT_OUT.get(format_name, {}):
            found.append(row)
        if detour is not None and detour.after == row.what:
            found += detour.rows
    return found


@dataclass(frozen=True)
class Account:
    """What an agent reported of the errand, as we read it."""

    format_name: str
    main: list[TranscriptEntry]
    child: list[TranscriptEntry]
    """The subagent's; empty where the agent has none."""
    events: list[Event]

    def entry(self, what: str) -> TranscriptEntry:
        """The entry of a row."""
        pairs = [
            *zip(rows_of(self.format_name, MAIN), self.main, strict=True),
            *zip(rows_of(self.format_name, CHILD), self.child, strict=True),
        ]
        return {row.what: entry for row, entry in pairs}[what]

    def facts(self) -> dict[str, bool]:
        """Which facts it gives; one about a row that is left out is not given."""
        return {name: self._gives(holds) for name, holds in FACTS.items()}

    def _gives(self, holds: Callable[[Account], bool]) -> bool:
        try:
            return holds(self)
        except LookupError:  # the row is not in the account
            return False


def account_of(format_name: str, events: list[Event]) -> Account:
    """The account that events give: two speakers, known by their prompts, or one where there are no subagents."""
    speakers: dict[tuple[str | None, str], list[TranscriptEntry]] = {}
    for entry in entries(events):
        if entry.entry_type not in IGNORED:
            speakers.setdefault((entry.run_id, entry.source), []).append(entry)
    (main,) = [told for told in speakers.values() if PROMPT in told[0].content]
    children = [told for told in speakers.values() if CHILD_PROMPT in told[0].content]
    assert (len(speakers), len(children)) == ((2, 1) if rows_of(format_name, CHILD) else (1, 0))
    return Account(format_name, main, children[0] if children else [], events)


def golden_account(format_name: str) -> Account:
    """The account of the golden case."""
    case = FOLDER / format_name / "parity"
    source: Path = input_of(case)
    return account_of(format_name, list(convert(source, None if source.is_dir() else format_named(format_name))))


def _failed(entry: TranscriptEntry) -> bool:
    return "error" in (entry.metadata or {})


def _words(entry: TranscriptEntry) -> str:
    """What a result says, and why it failed."""
    return f"{entry.content}\n{(entry.metadata or {}).get('error', '')}"


def _is_timed(account: Account) -> bool:
    results = [entry for entry in [*account.main, *account.child] if entry.entry_type == "tool_result"]
    return all("duration_ms" in (entry.metadata or {}) for entry in results)


def _is_counted(account: Account) -> bool:
    """Every answer but a last one has one call, so they can be counted without what is looked for."""
    told = [*account.main, *account.child]
    answers = sum(entry.entry_type == "tool_use" for entry in told)
    answers += sum(side[-1].entry_type == "assistant_message" for side in (account.main, account.child) if side)
    detour = DETOURS.get(account.format_name)
    answers += sum(row.entry_type == "assistant_message" for row in detour.rows) if detour else 0
    total = usage_totals(account.events).total
    return total.records == answers and bool(total.input_tokens and total.output_tokens)


def _answers_have(field: str) -> Callable[[Account], bool]:
    def holds(account: Account) -> bool:
        return all(getattr(message, field) for message in messages(account.events) if message.role == "assistant")

    return holds


def _is_linked(account: Account) -> bool:
    call_id = account.entry("a task for a subagent").tool_call_id
    child = account.child[0]
    origins = [each.origin for each in account.events if (each.run_id, each.source) == (child.run_id, child.source)]
    return {origin.parent_call_id for origin in origins if origin is not None} == {call_id}


FACTS: Mapping[str, Callable[[Account], bool]] = {
    "the prompt as it was typed": lambda account: account.entry("the prompt").content == PROMPT,
    "reading a file as a tool of its own": lambda account: (
        account.entry("a file to read").tool_name != account.entry("a shell command").tool_name
    ),
    "that a command failed": lambda account: _failed(account.entry("its failure")),
    "the exit code of a command that failed": lambda account: (
        re.search(r"(?:exit|return)\D{0,20}3\b", _words(account.entry("its failure")), re.IGNORECASE) is not None
    ),
    "that a file is not there": lambda account: _failed(account.entry("that it is not")),
    "how long each tool took": _is_timed,
    "the tokens of every answer": _is_counted,
    "the model of every answer": _answers_have("model"),
    "why each answer ended": _answers_have("stop_reason"),
    "the subagent inside the run that asked for it": lambda account: account.main[0].run_id == account.child[0].run_id,
    "the call that asked for the subagent": _is_linked,
}
"""What an account may give beside its entries."""

_SUCCESS = "A command that ran is a success to it, whatever its exit code, which is in the output."

UNREPORTED: Mapping[str, Mapping[str, str]] = {
    "claude_code": {"how long each tool took": "Its files have the duration of a subagent, and of no other tool."},
    "codex_rollout": {
        "reading a file as a tool of its own": "It has no such tool: its model reads files with shell commands.",
        "how long each tool took": "Its files have the duration of commands, and not of what concerns subagents.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
        "the subagent inside the run that asked for it": "A subagent is a thread with a file of its own: a child run.",
        "the call that asked for the subagent": "The file of a subagent names the thread that asked, not the call.",
    },
    "gemini_cli": {
        "that a command failed": _SUCCESS,
        "how long each tool took": "Its files have no durations.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
    },
    "copilot_cli": {
        "that a command failed": _SUCCESS,
        "how long each tool took": "Its files say when a tool began and when it ended, and not how long it took.",
    },
    "opencode": {
        "the prompt as it was typed": "`opencode run` puts quotation marks around a prompt of several words.",
        "that a command failed": _SUCCESS,
    },
    "qwen_code": {
        "the model of every answer": "The file of a subagent does not name its model.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
    },
    "kilo": {
        "the prompt as it was typed": "`kilo run` puts quotation marks around a prompt of several words.",
        "that a command failed": _SUCCESS,
    },
    "openclaw": {
        "that a command failed": _SUCCESS,
        "how long each tool took": "Its rows have the duration of commands, and of no other tool.",
        "the subagent inside the run that asked for it": "The task was run without a gateway.",
        "the call that asked for the subagent": "The task was run without a gateway.",
    },
    "pi": {
        "how long each tool took": "Its files have no durations.",
        "the subagent inside the run that asked for it": "It has no subagents.",
        "the call that asked for the subagent": "It has no subagents.",
    },
    "cline": {
        "how long each tool took": "Its files have no durations.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
    },
    "continue_session": {
        "how long each tool took": "Its files have no durations, and no times at all.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
        "the subagent inside the run that asked for it": "It has no subagents.",
        "the call that asked for the subagent": "It has no subagents.",
    },
    "openhands": {
        "that a command failed": _SUCCESS,
        "how long each tool took": "Its files have no durations.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
    },
    "hermes_agent": {
        "that a command failed": _SUCCESS,
        "how long each tool took": "Its database has no durations.",
        "the tokens of every answer": "Its database has the sums of a session, by model.",
        "the subagent inside the run that asked for it": "Its subagents outlive the turn: none is asked for here.",
        "the call that asked for the subagent": "Its subagents outlive the turn: none is asked for here.",
    },
    "mini_swe_agent": {
        "the prompt as it was typed": "It puts a template of its own around it.",
        "reading a file as a tool of its own": "Its only tool is a shell.",
        "that a command failed": _SUCCESS,
        "that a file is not there": "Its only tool is a shell, to which a command that ran is a success.",
        "how long each tool took": "Its file has no durations.",
        "the subagent inside the run that asked for it": "It has no subagents.",
        "the call that asked for the subagent": "It has no subagents.",
    },
    "gptme": {
        "that a command failed": _SUCCESS,
        "that a file is not there": "What went wrong in a tool is in its words only.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
        "the subagent inside the run that asked for it": "A subagent is a conversation of its own.",
        "the call that asked for the subagent": "No record links a subagent to the conversation that asked for it.",
    },
    "kimi_code": {},
    "kimi_cli": {
        "how long each tool took": "Its files have no durations.",
        "the model of every answer": "Its files name no model.",
        "why each answer ended": "Its files do not keep the model's reason to stop.",
    },
}
"""By agent, the facts that it does not give, each with the reason."""


def assert_as_said(account: Account) -> None:
    """The account has the rows of its agent, with their words, and gives every fact but those said to be missing."""
    for rows, told in ((MAIN, account.main), (CHILD, account.child)):
        expected = rows_of(account.format_name, rows)
        assert [entry.entry_type for entry in told] == [row.entry_type for row in expected]
        wrong = [row.what for row, entry in zip(expected, told, strict=True) if row.words not in entry.content]
        assert wrong == []
    missing = {name for name, holds in account.facts().items() if not holds}
    assert missing == set(UNREPORTED.get(account.format_name, {}))
