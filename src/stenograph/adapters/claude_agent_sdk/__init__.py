"""Claude through its Agent SDK: an adapter that asks, and a collector for programs that drive the SDK themselves.

The SDK is loaded when a prompt is evaluated; the collector does not need it.
"""

from stenograph.adapters.claude_agent_sdk.adapter import ClaudeAgentSDKAdapter
from stenograph.adapters.claude_agent_sdk.collector import TranscriptCollector
from stenograph.adapters.claude_agent_sdk.collector_config import TranscriptCollectorConfig
from stenograph.adapters.claude_agent_sdk.config import ClaudeAgentSDKClientConfig

__all__ = [
    "ClaudeAgentSDKAdapter",
    "ClaudeAgentSDKClientConfig",
    "TranscriptCollector",
    "TranscriptCollectorConfig",
]
