"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.host_tools import HOST_TOOLS
from stenograph.formats.shared.model_api.agents import OPENAI

SPEC = FormatSpec(
    name="openai_responses",
    what="OpenAI Responses API",
    versions="openai 2.54 and 3.49",
    agent=OPENAI,
    kind="stream",
    documents=True,
    detect=later("stenograph.formats.openai_responses.detection", "detect"),
    identify=later("stenograph.formats.shared.model_api.recognize", "identity_of"),
    open=later("stenograph.formats.openai_responses.format", "OpenAIResponsesFormat"),
    tools=HOST_TOOLS,
    tokens=("call",),
    sample=b'{"id":"resp_1","object":"response","model":"m","output":[]}\n',
)
