"""Making texts searchable in a process of its own, so that a long sync has two cores.

Theory of operation. What goes there is a pure function, a megabyte of text at a time, and nothing depends on the
process: where it cannot be started or does not answer, the work is done here. It ends when its input does, so it
never outlives us.
"""

from __future__ import annotations

import fcntl
import logging
import subprocess
import sys
from contextlib import suppress
from typing import IO

import msgspec

from stenograph.archive.index.words import camel_parts, searchable, with_parts

log = logging.getLogger("stenograph.archive")

_WORTH_ASKING = 1 << 18
_LENGTH = 8
_PIPE = 1 << 20
_decode = msgspec.msgpack.Decoder(list[bytes]).decode


class WordProcess:
    """Does `searchable` for many texts in UTF-8; the process is begun when there is much to do for the first time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_of_use = bool(sys.executable)

    def searchable(self, texts: list[bytes]) -> list[bytes]:
        """The texts as full text takes them."""
        if self._is_of_use and sum(map(len, texts)) >= _WORTH_ASKING:
            try:
                return self._ask(texts)
            except OSError as error:
                log.warning("the process that helps the sync is gone (%s); it goes on without", error)
                self._is_of_use = False
                self.close()
        return all_searchable(texts)

    def _ask(self, texts: list[bytes]) -> list[bytes]:
        if self._process is None:
            # Not among the modules of the current folder (-P), and out of reach of a Ctrl-C that is meant for us.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
            _widen(self._process)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        _send(self._process.stdin, texts)
        answers = _receive(self._process.stdout)
        if answers is None or len(answers) != len(texts):
            raise OSError("it did not answer")
        pairs = zip(texts, answers, strict=True)
        return [with_parts(text, answer) if text.isascii() else answer for text, answer in pairs]

    def close(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _widen(process: subprocess.Popen[bytes]) -> None:
    """Let a sack go through in few pieces: for each, we take the interpreter from the thread that parses."""
    size = getattr(fcntl, "F_SETPIPE_SZ", None)  # Linux has it
    for pipe in (process.stdin, process.stdout):
        if size is not None and pipe is not None:
            with suppress(OSError):  # the system allows less
                fcntl.fcntl(pipe, size, _PIPE)


def all_searchable(texts: list[bytes]) -> list[bytes]:
    """The same here and now."""
    return [searchable(text.decode()) for text in texts]


def _send(pipe: IO[bytes], pieces: list[bytes]) -> None:
    data = memoryview(msgspec.msgpack.encode(pieces))
    pipe.write(len(data).to_bytes(_LENGTH))
    while data:
        data = data[pipe.write(data) :]


def _receive(pipe: IO[bytes]) -> list[bytes] | None:
    """What the other side sent; None when it has gone."""
    head = _read(pipe, _LENGTH)
    data = _read(pipe, int.from_bytes(head)) if len(head) == _LENGTH else b""
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return None


def _read(pipe: IO[bytes], length: int) -> bytearray:
    data = bytearray()
    while len(data) < length and (more := pipe.read(min(length - len(data), 1 << 20))):
        data += more
    return data


def main() -> None:
    """Answer until nobody asks."""
    asking, answering = open(0, "rb", buffering=0), open(1, "wb", buffering=0)  # noqa: SIM115
    while (texts := _receive(asking)) is not None:
        _send(answering, [_answer(text) for text in texts])


def _answer(text: bytes) -> bytes:
    """The text as full text takes it; of one in ASCII only what is added to it, because the asker has the rest."""
    return b" ".join(camel_parts(text)) if text.isascii() else searchable(text.decode())


if __name__ == "__main__":
    main()
