"""Whose model APIs are recorded: the service stands in for the agent, which is not known."""

from stenograph.fold.agent_tables import Agent

ANTHROPIC = Agent("anthropic", "Anthropic API")
OPENAI = Agent("openai", "OpenAI API")
