"""capture_openai: a client that works like the given one and records every model call.

Theory of operation. The SDK sends through an httpx client, and that through transports. The captured client has a copy
of the httpx client with the same settings, cookies and hooks, whose transports are the original ones inside a tee. The
copy keeps a reference to the original, because the SDK closes its own httpx client when the last reference is gone.
The copy must not close itself like that, or the given client would lose its connections with the captured one.
"""

from __future__ import annotations

import copy
import logging
import sys
from types import ModuleType
from typing import Any, TypeVar

from stenograph.adapters.capture import Capture
from stenograph.adapters.evaluations.model_wire import ModelWire
from stenograph.adapters.openai.tee import tee_class
from stenograph.adapters.outputs import Outputs, Target
from stenograph.errors import AgentError
from stenograph.session import Session
from stenograph.text_transcripts import ThreadTranscripts

C = TypeVar("C")


def capture_openai(
    client: C,
    run: Target | None = None,
    *,
    session: Session | None = None,
    logger: logging.Logger | None = None,
    prompt_name: str = "",
    keep_raw: bool = False,
    text_transcripts: ThreadTranscripts | None = None,
) -> C:
    """A client like the given one, sync or async, that records its calls to chat completions and responses.

    The given client is not changed, and its own calls are not recorded. The two share their connections: closing one
    closes both. `run` is a run, a step or a recorder. With `keep_raw` every request and answer is kept whole; since
    each request repeats its conversation, the journal then grows with the square of the conversation's length.
    """
    untyped: Any = client
    http = getattr(untyped, "_client", None)
    module = _module_of(http)
    if module is None or not hasattr(http, "_transport") or not callable(getattr(untyped, "copy", None)):
        raise AgentError(f"{type(client).__name__} is not a client of the OpenAI SDK; give an OpenAI or AsyncOpenAI")
    outputs = Outputs(recorder=run, session=session, logger=logger, text_transcripts=text_transcripts)
    capture = Capture(prompt_name=prompt_name, adapter="openai", outputs=outputs)
    wire = ModelWire(capture, "openai_chat", keep_raw=keep_raw)
    captured: C = untyped.copy(http_client=_with_tees(http, module, wire))
    capture.start()
    return captured


def _module_of(http: Any) -> ModuleType | None:
    """The module of an HTTP client: httpx or httpx2."""
    for kind in type(http).__mro__:
        module = sys.modules.get(kind.__module__.partition(".")[0])
        if kind.__name__ in ("Client", "AsyncClient") and hasattr(module, "SyncByteStream"):
            return module
    return None


def _with_tees(http: Any, module: ModuleType, wire: ModelWire) -> Any:
    """A copy of the HTTP client, of the same class, with tees around its transports."""
    tee = tee_class(module, is_async=hasattr(http, "aclose"))
    tapped = copy.copy(http)
    tapped.__class__ = type(type(http).__name__, (type(http),), {"__del__": lambda self: None})
    tapped._transport = tee(http._transport, http, wire)
    tapped._mounts = {place: way and tee(way, http, wire) for place, way in http._mounts.items()}
    return tapped
