"""The tee: an httpx transport that passes every byte on as it comes, and records the bytes of model calls.

Recording delays only the end of the answer: a stream is passed on chunk by chunk, and its copy is parsed when it ends,
is closed, or breaks off. The bytes are not content-decoded, so they are decoded here once more, by the same httpx. Only
the headers needed for that are read: no key is ever recorded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any
from uuid import uuid4

from stenograph.adapters.evaluations.model_wire import ModelWire, decoded
from stenograph.formats.shared.model_api.envelope import api_of_path, sse_records
from stenograph.guard import Guard

_APIS = ("chat", "responses")


class HttpCall:
    """One request to a model API, and as much of the answer as came."""

    def __init__(self, wire: ModelWire, module: ModuleType, path: str) -> None:
        self._wire = wire
        self._module = module
        self._path = path
        self._id = uuid4().hex
        self._status: int | None = None
        self._encoding: str | None = None
        self._is_stream = False
        self._chunks: list[bytes] = []
        self._is_over = False
        self._guard = Guard(f"calls of {wire.capture.adapter}")

    def asked(self, body: bytes) -> None:
        """The request is about to be sent."""
        self._wire.asked(self._path, decoded(body), self._id)

    def began(self, response: Any) -> bool:
        """The answer's head has come; returns whether its body is still to come (with some transports it is not)."""
        self._status = response.status_code
        self._is_stream = "event-stream" in response.headers.get("content-type", "")
        if response.is_stream_consumed:
            self._chunks.append(response.content)  # decoded already
            self.ended()
            return False
        self._encoding = response.headers.get("content-encoding")
        return True

    def took(self, chunk: bytes) -> None:
        """Bytes that the caller gets now."""
        self._chunks.append(chunk)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While the caller reads: however that ends, the answer is over. Leaving it early is not an error."""
        try:
            yield
        except GeneratorExit:
            self.ended()
            raise
        except BaseException as error:
            self.ended(error)
            raise
        self.ended()

    def ended(self, error: BaseException | None = None) -> None:
        """The answer is over: read to its end, closed early, or broken off by an error. Later calls do nothing."""
        if self._is_over:
            return
        self._is_over = True
        self._guard.call("an answer", self._record, error)

    def _record(self, error: BaseException | None) -> None:
        data, fault = self._unpacked()
        error = error or fault
        is_redirect = self._status is not None and 300 <= self._status < 400
        if data or (error is None and not is_redirect):
            body = sse_records(data.decode("utf-8", "replace")) if self._is_stream else decoded(data)
            self._wire.answered(self._path, body, status=self._status, call=self._id)
        if error is not None:
            self._wire.failed(self._path, error, call=self._id)

    def _unpacked(self) -> tuple[bytes, Exception | None]:
        """The answer decoded as far as that goes, and why not further."""
        if self._encoding is None:
            return b"".join(self._chunks), None
        stream = _chunks_class(self._module)(self._chunks)
        reply = self._module.Response(200, headers={"content-encoding": self._encoding}, stream=stream)
        pieces: list[bytes] = []
        try:
            pieces.extend(reply.iter_bytes())
        except self._module.DecodingError as error:
            return b"".join(pieces), error
        return b"".join(pieces), None


@cache
def tee_class(module: ModuleType, *, is_async: bool) -> type[_Tee]:
    """The tee for transports of httpx or of its successor, which accept only their own classes."""
    if is_async:
        return type("AsyncTee", (_AsyncTee, module.AsyncBaseTransport), {"module": module})
    return type("SyncTee", (_SyncTee, module.BaseTransport), {"module": module})


class _Tee:
    """What the two tees share."""

    module: ModuleType

    def __init__(self, transport: Any, owner: Any, wire: ModelWire) -> None:
        """`owner` is the HTTP client that the transport belongs to; it is closed with us."""
        self._transport = transport
        self._owner = owner
        self._wire = wire
        self._guard = Guard(f"calls of {wire.capture.adapter}")

    def _begin(self, request: Any) -> HttpCall | None:
        """The model call of a request; None if the request is not one."""
        if request.method != "POST" or api_of_path(request.url.path) not in _APIS:
            return None
        call = HttpCall(self._wire, self.module, request.url.path)
        call.asked(request.content)
        return call


class _SyncTee(_Tee):
    """Around a transport."""

    def handle_request(self, request: Any) -> Any:
        """Send the request; the answer is the transport's own, but for its stream."""
        call = self._guard.call("a request", self._begin, request)
        if call is None:
            return self._transport.handle_request(request)
        try:
            response = self._transport.handle_request(request)
        except BaseException as error:
            call.ended(error)
            raise
        if call.began(response):
            response.stream = _sync_stream_class(self.module)(response.stream, call)
        return response

    def close(self) -> None:
        """Close the client that we are around."""
        self._wire.stop()
        self._owner.close()


class _AsyncTee(_Tee):
    """Around an async transport."""

    async def handle_async_request(self, request: Any) -> Any:
        """Send the request; the answer is the transport's own, but for its stream."""
        call = self._guard.call("a request", self._begin, request)
        if call is None:
            return await self._transport.handle_async_request(request)
        try:
            response = await self._transport.handle_async_request(request)
        except BaseException as error:
            call.ended(error)
            raise
        if call.began(response):
            response.stream = _async_stream_class(self.module)(response.stream, call)
        return response

    async def aclose(self) -> None:
        """Close the client that we are around."""
        self._wire.stop()
        await self._owner.aclose()


class _SyncStream:
    """The bytes of an answer, passed on to the caller."""

    def __init__(self, stream: Any, call: HttpCall) -> None:
        self._stream = stream
        self._call = call

    def __iter__(self) -> Iterator[bytes]:
        with self._call.reading():
            for chunk in self._stream:
                self._call.took(chunk)
                yield chunk

    def close(self) -> None:
        """The caller stops reading."""
        try:
            self._stream.close()
        finally:
            self._call.ended()


class _AsyncStream:
    """The bytes of an answer, passed on to the caller."""

    def __init__(self, stream: Any, call: HttpCall) -> None:
        self._stream = stream
        self._call = call

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self._call.reading():
            async for chunk in self._stream:
                self._call.took(chunk)
                yield chunk

    async def aclose(self) -> None:
        """The caller stops reading."""
        try:
            await self._stream.aclose()
        finally:
            self._call.ended()


class _Chunks:
    """Chunks that have already come, as a stream."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks

    def close(self) -> None:
        """Nothing is open."""


@cache
def _sync_stream_class(module: ModuleType) -> Any:
    return type("SyncTeeStream", (_SyncStream, module.SyncByteStream), {})


@cache
def _async_stream_class(module: ModuleType) -> Any:
    return type("AsyncTeeStream", (_AsyncStream, module.AsyncByteStream), {})


@cache
def _chunks_class(module: ModuleType) -> Any:
    return type("Chunks", (_Chunks, module.SyncByteStream), {})
