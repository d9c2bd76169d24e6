"""Where Copilot CLI keeps its sessions: a folder each, whose `events.jsonl` holds its subagents, too."""

from stenograph.formats.layout import Home, Layout, cwd_field

LAYOUT = Layout(
    homes=(Home(variable="COPILOT_HOME", default=".copilot", folder="session-state"),),
    sessions=("{session}/events.jsonl",),
    names_folder=cwd_field,
)
