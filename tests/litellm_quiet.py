"""LiteLLM in tests: it keeps sockets and event loops open, and warns about its own types, in its own threads too."""

from __future__ import annotations

import asyncio
import gc
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quiet_litellm() -> Iterator[Any]:
    """The library; what it leaves behind is collected here, and not inside somebody else's test."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # without, importing it asks the internet for prices
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm

        litellm.suppress_debug_info = True
        try:
            yield litellm
        finally:
            litellm.in_memory_llm_clients_cache.flush_cache()
            asyncio.run(asyncio.sleep(0))  # lets go of the event loop that it left to the thread
            gc.collect()
