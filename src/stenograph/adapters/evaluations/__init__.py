"""Evaluating prompts with a model: the prompt, its tools, and what is recorded of them."""
