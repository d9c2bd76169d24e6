"""The description of this format."""

from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.kimi_cli.agent import AGENT
from stenograph.formats.kimi_cli.tools import TOOLS
from stenograph.formats.kimi_cli_stream.format import KimiCliStreamFormat, detect

SPEC = FormatSpec(
    name="kimi_cli_stream",
    what="kimi-cli's stdout: kimi --print --output-format stream-json",
    versions="1.45.0",
    agent=AGENT,
    kind="stream",
    detect=detect,
    identify=lambda records, path: Identity(),
    open=KimiCliStreamFormat,
    tools=TOOLS,
    sample=b'{"role":"assistant","content":[{"type":"think","think":"Hm.","encrypted":null}]}\n',
)
