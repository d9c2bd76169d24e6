"""The help page: the keys, where the data is, and the version."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from stenograph.render.html.escape import line
from stenograph.server.answers import html
from stenograph.server.frame import framed
from stenograph.server.site import Site
from stenograph.version import __version__

KEYS = (
    ("j k", "next, previous event"),
    ("J K", "next, previous prompt"),
    ("e E", "next, previous error"),
    ("c C", "next, previous change of a file"),
    ("u", "up: out of a subagent, to the run that started this one, to the list"),
    ("Enter", "into the subagent of a call"),
    ("o O", "open or close this one, all of its kind"),
    ("1 2 3", "density: brief, normal, all"),
    ("t", "show or hide thinking"),
    ("/", "find"),
    ("n N", "next, previous hit"),
    ("g g", "to the start"),
    ("G", "to the end, and follow"),
    ("[ ]", "earlier, later page; beyond them, the run before or after it in the list"),
    ("y Y", "copy a link to the event, copy its text"),
    ("R", "copy the command that resumes the run"),
    ("r", "the raw event"),
    ("s", "star the run"),
    ("d", "light or dark"),
    ("Ctrl K", "go to a page"),
    ("?", "the keys"),
    ("Esc", "leave a field, close what is open"),
)
"""What is shown about the keys; `static/keys.js` handles them."""
_KEEPING = {
    "no": "It is not brought up to date here (--no-sync).",
    "starting": "It is being brought up to date now.",
    "yes": "It is kept up to date by this server.",
    "elsewhere": "It is kept up to date by a steno watch.",
}
"""By the states of `Keeper`; `no` without one."""
_STORE_LACKS = "A store has no marks, and its pages do not grow by themselves."


def help_page(site: Site, request: Request) -> Response:
    """`/help`."""
    keys = "".join(f"<dt><kbd>{line(key)}</kbd></dt><dd>{line(what)}</dd>" for key, what in KEYS)
    place = f"<code>{line(site.runs.place)}</code>"
    if site.store is None:
        keeping = _KEEPING["no" if site.keeper is None else site.keeper.state]
        data = f"The archive is in {place}. {keeping}"
        leaves = "Nothing leaves this machine: the pages load nothing from elsewhere, and their policy forbids it."
    else:
        data = (
            f"These are the runs of all machines in the store {place}, as of the last steno lake load. {_STORE_LACKS}"
        )
        leaves = "The server reads the store; the pages load nothing from elsewhere, and their policy forbids it."
    masked = "Secrets are masked." if site.mask else "Nothing is masked: pages show what was recorded."
    body = (
        f'<main class="narrow"><h1>Help</h1><h2>Keys</h2><dl id="keys">{keys}</dl><h2>Your data</h2>'
        f"<p>{data} {masked}</p><p>{leaves}</p>"
        f"<h2>Version</h2><p>Stenograph {line(__version__)}</p></main>"
    )
    return html(request, framed(site, "Help", body, here="/help"))
