"""Where gptme keeps its conversations: a folder each."""

from stenograph.formats.gptme.detection import FILE
from stenograph.formats.layout import Home, Layout

LAYOUT = Layout(
    homes=(
        Home(variable="XDG_DATA_HOME", default=".local/share", folder="gptme/logs"),
        Home(variable="GPTME_LOGS_HOME", default=".local/share/gptme/logs"),
    ),
    sessions=(f"{{session}}/{FILE}",),
    unread=("{session}/events.jsonl", "{session}/lesson-emissions.jsonl"),
)
