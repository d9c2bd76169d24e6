"""The agents of model API formats: the service stands for the agent, which is not known."""

from stenograph.fold.agent_tables import Agent

ANTHROPIC = Agent("anthropic", "Anthropic API")
OPENAI = Agent("openai", "OpenAI API")
