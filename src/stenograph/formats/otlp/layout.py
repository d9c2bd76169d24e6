"""Where files of OTLP are: conversations that an archive received, and files of spans that others wrote.

What `steno receive` and `StenographSpanProcessor` keep is one file for each conversation, in the archive itself. Any
other file of OTLP may hold many conversations, as JSON or as protobuf.
"""

from stenograph.formats.base import later
from stenograph.formats.layout import Home, Layout, ManySessions

LAYOUT = Layout(
    homes=(Home(variable="STENOGRAPH_HOME", default=".local/share/stenograph", folder="received/runs"),),
    sessions=("{conversation}.jsonl",),
    many=ManySessions(
        is_one=later("stenograph.formats.otlp.file_sessions", "has_many"),
        sessions=later("stenograph.formats.otlp.file_sessions", "conversations_in"),
    ),
)
