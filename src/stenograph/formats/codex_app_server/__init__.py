"""codex_app_server: the JSON lines that `codex app-server` and its client exchange over stdio."""

from stenograph.formats import tools, turns
from stenograph.formats.base import FormatSpec
from stenograph.formats.codex_app_server.detection import detect, identify
from stenograph.formats.codex_app_server.parser import CodexAppServerFormat
from stenograph.formats.codex_rollout.program import PROGRAM

__all__ = ["SPEC", "CodexAppServerFormat"]

SPEC = FormatSpec(
    name="codex_app_server",
    what="the stdio protocol of `codex app-server`, one direction or both",
    versions="Codex 0.63, 0.98, 0.120, 0.144, 0.166",
    on_disk=False,
    detect=detect,
    identify=identify,
    open=CodexAppServerFormat,
    turns=turns.CODEX_APP_SERVER,
    tools=tools.CODEX,
    program=PROGRAM,
)
