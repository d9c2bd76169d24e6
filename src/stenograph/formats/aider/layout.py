"""Where Aider keeps its histories: in the repository, or in the folder that it was started in."""

from stenograph.formats.base import later
from stenograph.formats.layout import Layout, ManySessions

LAYOUT = Layout(
    sessions=(".aider.chat.history.md",),
    many=ManySessions(is_one=lambda first: True, sessions=later("stenograph.formats.aider.detection", "sessions_in")),
    in_work_folder=True,
)
