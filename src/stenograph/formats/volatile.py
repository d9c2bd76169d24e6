"""What differs in the results of tools each time an agent runs them: regular expressions that replay looks past."""

CLAUDE = (
    r"agentId: \w+",
    r"\b(?:subagent_tokens|total_tokens|tool_uses|duration_ms): \d+",
    r"\b\d+ tokens\b",
    r"\boutput_file: \S+",
)
CODEX = (
    r"\bChunk ID: \w+",
    r"\bWall time: [\d.]+ seconds",
    r"\bOriginal token count: \d+",
    r'\\?"nickname\\?": ?\\?"[^"\\]*\\?"',
    r'"duration_seconds": ?[\d.]+',
)
