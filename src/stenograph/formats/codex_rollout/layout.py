"""Where Codex keeps its threads: one rollout file each, by day; child threads are runs of their own."""

from stenograph.formats.layout import Home, Layout, cwd_field

LAYOUT = Layout(
    homes=(
        Home(variable="CODEX_HOME", default=".codex", folder="sessions"),
        Home(variable="CODEX_HOME", default=".codex", folder="archived_sessions"),
    ),
    sessions=("**/rollout-{time}-{session}.jsonl",),
    names_folder=cwd_field,
)
