"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.host_tools import HOST_TOOLS
from stenograph.formats.shared.model_api.agents import OPENAI
from stenograph.formats.shared.model_api.recognize import detection_of, identity_of

SPEC = FormatSpec(
    name="openai_responses",
    what="OpenAI Responses API",
    versions="openai 2.54 and 3.49",
    agent=OPENAI,
    kind="stream",
    documents=True,
    detect=detection_of("responses"),
    identify=identity_of,
    open=later("stenograph.formats.openai_responses.format", "OpenAIResponsesFormat"),
    tools=HOST_TOOLS,
    tokens=("call",),
    sample=b'{"id":"resp_1","object":"response","model":"m","output":[]}\n',
)
