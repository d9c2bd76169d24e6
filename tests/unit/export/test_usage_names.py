"""The table of what each format calls tokens."""

from __future__ import annotations

from stenograph.export.usage_names import ATIF, ATIF_EXTRA, GENAI, INSPECT, OPENINFERENCE, PI, named
from stenograph.fold.usage import Usage

USAGE = Usage(
    input_tokens=100,
    output_tokens=20,
    cache_read_input_tokens=60,
    cache_creation_input_tokens=30,
    reasoning_output_tokens=5,
    records=1,
)


def test_input_without_cache_where_the_format_wants_it() -> None:
    """Ours includes what was read from and written to a cache; Inspect's and Pi's do not."""
    assert named(USAGE, ATIF) == {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 60}
    assert named(USAGE, ATIF_EXTRA) == {"cache_creation_input_tokens": 30, "reasoning_output_tokens": 5}
    assert named(USAGE, GENAI)["gen_ai.usage.input_tokens"] == 100
    assert named(USAGE, OPENINFERENCE)["llm.token_count.total"] == 120
    assert named(USAGE, PI) == {"input": 10, "output": 20, "cacheRead": 60, "cacheWrite": 30, "totalTokens": 120}
    assert named(USAGE, INSPECT) == {
        "input_tokens": 10,
        "output_tokens": 20,
        "input_tokens_cache_read": 60,
        "input_tokens_cache_write": 30,
        "reasoning_tokens": 5,
        "total_tokens": 120,
    }


def test_numbers_of_zero_are_written_where_the_format_wants_them() -> None:
    """Caches that were not used are left out unless they are asked for."""
    usage = Usage(input_tokens=1, output_tokens=2, records=1)
    assert named(usage, PI) == {"input": 1, "output": 2, "totalTokens": 3}
    assert named(usage, PI, zeros=True)["cacheRead"] == 0
