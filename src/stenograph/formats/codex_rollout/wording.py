"""Labels that people read instead of Codex's subtypes, and events that they must not miss."""

LABELS = {
    "agent_message": "Answer, repeated",
    "agent_reasoning": "Thinking, repeated",
    "session_meta": "Session started",
    "task_complete": "Turn finished",
    "task_started": "Turn started",
    "token_count": "Token count",
    "turn_aborted": "Turn interrupted",
    "turn_context": "Settings of the turn",
    "user_message": "Prompt, repeated",
}
NOTICES = frozenset({"inter_agent_message", "stream_error", "turn_aborted", "user_shell_command"})
