"""Every file of the shared folder against every format: the right one takes it, and no other would."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from shutil import copyfile

import pytest

from detection_matrix import Takers, wrong_takers
from shared_folder import SHARED
from stenograph.formats.registry import formats

pytestmark = pytest.mark.corpus

CAPTURES = {"sdk": "openai"}
"""Folders of captures whose name is not the agent's."""
CORPUS: dict[str, tuple[str, ...]] = {
    "anthropic-messages-json": ("anthropic_messages", "openai_chat"),
    "atif": ("atif",),
    "chat-json": ("openai_chat", "chat_json", "cline"),
    "chatgpt-export": ("chatgpt",),
    "claude-session": ("claude_code", "gemini_cli"),
    "claude-stream-json": ("claude_stream",),
    "claude-web-export": ("claude_web",),
    "codex-exec-json": ("codex_exec",),
    "codex-rollout": ("codex_rollout",),
    "copilot-events": ("copilot_cli",),
    "cursor-transcript": ("cursor",),
    "gemini-chat": ("gemini_cli",),
    "inspect-eval": ("inspect_log",),
    "openai-chat-jsonl": ("openai_chat", "chat_json", "gptme"),
    "opencode-run-json": ("opencode_stream",),
    "openhands-events": ("openhands_v0",),
    "other-hermes": ("atif", "hermes_agent"),
    "other-kimi": ("kimi_cli", "kimi_code"),
    "other-openclaw": ("openclaw", "pi"),
    "other-qwen": ("qwen_code", "qwen_stream"),
    "pi-session": ("pi",),
    "swe-agent-traj": ("swe_agent", "mini_swe_agent"),
}
"""By folder of the corpus, the formats in which its files may be; the others there stay unknown."""
ANY_AGENT = {"acp"}
"""Formats that several agents write: a protocol."""
MADE_FROM = {"kilo": ("opencode", "opencode_stream"), "openclaw": ("pi",)}
"""Agents that are made from another one, and write as it does."""


def _allowed(named: Path) -> frozenset[str]:
    """The formats that may take a file, by the folder that it is in."""
    top, folder, *_ = named.parts
    if top == "corpus":
        return frozenset(CORPUS.get(folder, ()))
    agent = CAPTURES.get(folder, folder)
    if agent.startswith("otel-"):
        return frozenset({"otlp"})
    agent = next((spec.agent.id for spec in formats().values() if _is_version_of(folder, spec.agent.id)), agent)
    own = {name for name, spec in formats().items() if spec.agent.id == agent}
    return frozenset({*own, *ANY_AGENT, *MADE_FROM.get(agent, ())})


def _is_version_of(folder: str, agent: str) -> bool:
    """`qwen-code-0.15` holds what an older `qwen-code` wrote."""
    return folder.startswith(f"{agent}-") and folder.removeprefix(f"{agent}-")[:1].isdigit()


def test_no_format_takes_the_file_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its own path and as `<uuid>.jsonl` elsewhere: a format of its agent and none beside, or none at all."""
    takers, wrong, seen = Takers(monkeypatch), {}, defaultdict(set)
    for number, path in enumerate(_files()):
        named = path.relative_to(SHARED)
        elsewhere = tmp_path / f"550e8400-e29b-41d4-a716-{number:012}.jsonl"
        copyfile(path, elsewhere)
        for place in (path, elsewhere):
            taken, scores = takers.of(place)
            seen["/".join(named.parts[:2])].add(taken)
            if found := wrong_takers(taken, scores, _allowed(named)):
                wrong[str(named)] = found
        elsewhere.unlink()
    assert wrong == {}
    agents = {spec.agent.id for spec in formats().values() if spec.is_placed}
    unread = [name for name, taken in seen.items() if name.removeprefix("agents/") in agents and taken == {None}]
    assert unread == [], "formats that take no file of their agent"


def _files() -> list[Path]:
    tops = [SHARED / name for name in ("agents", "captures", "corpus")]
    found = [path for top in tops for path in sorted(top.rglob("*")) if path.is_file()]
    return [path for path in found if len(path.relative_to(SHARED).parts) > 2 and path.stat().st_size]
