"""Where mini-swe-agent keeps its last runs; with `-o` and in batches the user chooses the place."""

from stenograph.formats.layout import Home, Layout

LAYOUT = Layout(
    homes=(Home(variable="MSWEA_GLOBAL_CONFIG_DIR", default=".config/mini-swe-agent"),),
    sessions=("{session}.traj.json",),
    is_of_folder=lambda path, folder: True,  # runs name no folder: one that is written meanwhile is the command's
)
