"""The description of this format."""

from stenograph.formats.base import FormatSpec, Identity, later
from stenograph.formats.kimi_cli.agent import AGENT
from stenograph.formats.kimi_cli.tools import TOOLS

SPEC = FormatSpec(
    name="kimi_cli_stream",
    what="kimi-cli's stdout: kimi --print --output-format stream-json",
    versions="1.45.0",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.kimi_cli_stream.detection", "detect"),
    identify=lambda records, path: Identity(),
    open=later("stenograph.formats.kimi_cli_stream.format", "KimiCliStreamFormat"),
    tools=TOOLS,
    sample=b'{"role":"assistant","content":[{"type":"think","think":"Hm.","encrypted":null}]}\n',
)
