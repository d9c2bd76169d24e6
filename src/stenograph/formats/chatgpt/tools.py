"""The tools of ChatGPT, as far as they are known."""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.formats.shared.tools import Tools, tools

TOOLS: Tools = (
    tools(actions.OTHER, "python python_user_visible dalle.text2im image_gen.text2im bio canmore.create_textdoc")
    | tools(actions.SEARCH, "browser browser.search web web.run web.search file_search.msearch myfiles_browser")
    | tools(actions.FETCH, "browser.open web.open_url")
    | tools(actions.OTHER, "canmore.update_textdoc container.exec")
)
