"""Where Aider keeps its histories: in the repository, or in the folder that it was started in."""

from stenograph.formats.aider.detection import FILE, sessions_in
from stenograph.formats.layout import Layout, ManySessions

LAYOUT = Layout(
    sessions=(FILE,),
    many=ManySessions(is_one=lambda first: True, sessions=sessions_in),
    in_work_folder=True,
)
