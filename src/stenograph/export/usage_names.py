"""The names of token counts in each format, and whether its input count includes cached tokens."""

from __future__ import annotations

from msgspec import Struct

from stenograph.fold.usage import Usage


class UsageNames(Struct, frozen=True, kw_only=True):
    """The names of one format; None if it has no field for a count."""

    input: str
    output: str
    cache_read: str | None = None
    cache_write: str | None = None
    reasoning: str | None = None
    total: str | None = None
    input_has_cache: bool = True
    """False if cache reads and writes are not part of the input count."""


ATIF = UsageNames(input="prompt_tokens", output="completion_tokens", cache_read="cached_tokens")
ATIF_EXTRA = UsageNames(
    input="", output="", cache_write="cache_creation_input_tokens", reasoning="reasoning_output_tokens"
)
GENAI = UsageNames(
    input="gen_ai.usage.input_tokens",
    output="gen_ai.usage.output_tokens",
    cache_read="gen_ai.usage.cache_read.input_tokens",
    cache_write="gen_ai.usage.cache_creation.input_tokens",
    reasoning="gen_ai.usage.reasoning.output_tokens",
)
OPENINFERENCE = UsageNames(
    input="llm.token_count.prompt",
    output="llm.token_count.completion",
    cache_read="llm.token_count.prompt_details.cache_read",
    cache_write="llm.token_count.prompt_details.cache_write",
    reasoning="llm.token_count.completion_details.reasoning",
    total="llm.token_count.total",
)
INSPECT = UsageNames(
    input="input_tokens",
    output="output_tokens",
    cache_read="input_tokens_cache_read",
    cache_write="input_tokens_cache_write",
    reasoning="reasoning_tokens",
    total="total_tokens",
    input_has_cache=False,
)
PI = UsageNames(
    input="input",
    output="output",
    cache_read="cacheRead",
    cache_write="cacheWrite",
    total="totalTokens",
    input_has_cache=False,
)


def named(usage: Usage, names: UsageNames, *, zeros: bool = False) -> dict[str, int]:
    """The token counts by a format's names; caches, reasoning and totals of 0 only with `zeros`."""
    cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens
    fresh = usage.input_tokens if names.input_has_cache else max(0, usage.input_tokens - cached)
    found = {names.input: fresh, names.output: usage.output_tokens}
    more = (
        (names.cache_read, usage.cache_read_input_tokens),
        (names.cache_write, usage.cache_creation_input_tokens),
        (names.reasoning, usage.reasoning_output_tokens),
        (names.total, usage.input_tokens + usage.output_tokens),
    )
    found |= {name: count for name, count in more if name and (count or zeros)}
    found.pop("", None)
    return found
