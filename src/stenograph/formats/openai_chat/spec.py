"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.host_tools import HOST_TOOLS
from stenograph.formats.shared.model_api.agents import OPENAI

SPEC = FormatSpec(
    name="openai_chat",
    what="OpenAI Chat Completions (also LiteLLM and compatible servers), chat datasets",
    versions="openai 2.54 and 3.49, LiteLLM 1.106",
    agent=OPENAI,
    kind="stream",
    documents=True,
    detect=later("stenograph.formats.openai_chat.detection", "detect"),
    identify=later("stenograph.formats.shared.model_api.recognize", "identity_of"),
    open=later("stenograph.formats.openai_chat.format", "OpenAIChatFormat"),
    adapters={"litellm": "LiteLLM", "openai": "OpenAI API"},
    tools=HOST_TOOLS,
    tokens=("call",),
    sample=b'{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[]}\n',
)
