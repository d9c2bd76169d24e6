"""Labels that people read instead of Claude Code's subtypes, and events that they must not miss."""

LABELS = {
    "api_retry": "Model asked again",
    "file-history-snapshot": "Snapshot of files",
    "queue-operation": "Prompt queue",
}
NOTICES = frozenset(
    {
        "attachment/hook_non_blocking_error",
        "local_command",
        "local_command_output",
        "model_refusal_no_fallback",
        "task_notification",
    }
)
