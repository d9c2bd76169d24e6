"""Where pi and its forks keep their sessions: files by the folder in which the agent works."""

from stenograph.formats.layout import Home, Layout, cwd_field

FORKS = {".omp": "oh-my-pi", ".prime": "prime", ".openclaw": "openclaw"}
"""Agents that write the same files, by the folder in which they keep them."""

LAYOUT = Layout(
    homes=(
        Home(default=".pi/agent", variable="PI_CODING_AGENT_DIR", folder="sessions"),
        Home(default=".pi/agent/sessions", variable="PI_CODING_AGENT_SESSION_DIR"),
        Home(default=".omp/agent", folder="sessions"),
        Home(default=".prime/agent", folder="sessions"),
        Home(default=".openclaw", folder="agents"),
    ),
    sessions=("{project}/{time}_{session}.jsonl", "{time}_{session}.jsonl", "{project}/sessions/{session}.jsonl"),
    names_folder=cwd_field,
)
