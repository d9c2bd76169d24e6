"""The mask of a recorder: a secret that a stream splits is masked before any piece is written.

Theory of operation. A chunk is written at once, except for its last word: that may be the beginning of a secret, so it
is held back and put in front of the next chunk of the same speaker. When the speaker sends something else, or the run
ends, what is held back becomes a chunk of its own (`held`). Words are judged together with the unmasked text that was
written before them, so that `password: ` in one chunk shows what the next one is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from stenograph.model import Event
from stenograph.redact.event import EventMask, journal_mask
from stenograph.redact.known import KnownSecrets
from stenograph.redact.stream import Speaker, cut_chunk, is_chunk, speaker_of, text_of_chunk, with_text

_CONTEXT, _CONTEXT_OF_KEY = 2_000, 16_000
"""Characters before a word by which it is judged; inside a private key, enough to include its header."""
_LONGEST_WORD = 4_096
_MOST_RUNS, _MOST_SPEAKERS = 64, 256


class _Stream:
    """One speaker's stream: what was written of it lately, and what is held back."""

    def __init__(self) -> None:
        self.context = ""
        self.waiting = ""
        self.last: Event | None = None


class RecordingMask:
    """Masks events one after the other: returns the same event when it holds no secret, and never raises.

    Callable, as `Recorder` expects of a mask; a recorder calls `streamed` and records what is `held` back.
    A value that was masked once in a run is masked everywhere from then on, also without its name.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known = KnownSecrets(secrets)
        self._runs: OrderedDict[str, EventMask] = OrderedDict()
        self._streams: OrderedDict[Speaker, _Stream] = OrderedDict()

    def __call__(self, event: Event) -> Event:
        """The event with its secrets masked, by itself."""
        return self._mask_of(event.run_id).event(event)

    def streamed(self, event: Event) -> Event:
        """The masked event, for a caller that also records what is `held`: without a possible beginning of a secret."""
        mask = self._mask_of(event.run_id)
        return self._chunk(event, mask) if is_chunk(event) else mask.event(event)

    def held(self, event: Event | None, run_id: str) -> Iterator[Event]:
        """Chunks to record before an event: what its speaker sent last; for None, those of all speakers of a run."""
        if event is not None:
            speakers = [] if is_chunk(event) else [speaker_of(event)]
        else:
            speakers = [speaker for speaker in self._streams if speaker[0] == run_id]
        for speaker in speakers:
            stream = self._streams.pop(speaker, None)
            if stream is not None and stream.waiting and stream.last is not None:
                text = _masked(stream, stream.waiting, self._mask_of(run_id))
                yield replace(with_text(stream.last, text), raw=None, raw_b64=None)

    def _chunk(self, event: Event, mask: EventMask) -> Event:
        stream = self._stream_of(speaker_of(event))
        said = text_of_chunk(event)
        text = stream.waiting + said
        ready = _last_word(text)
        stream.waiting = text[ready:]
        stream.last = event
        shown = _masked(stream, text[:ready], mask)
        if shown == said:
            return mask.event(event)
        # The source line has the unmasked chunk, so it cannot stay.
        return mask.event(replace(with_text(event, shown), raw=None, raw_b64=None))

    def _mask_of(self, run_id: str) -> EventMask:
        mask = self._runs.get(run_id)
        if mask is None:
            mask = self._runs[run_id] = journal_mask(self._known)
            if len(self._runs) > _MOST_RUNS:
                self._runs.popitem(last=False)
        return mask

    def _stream_of(self, speaker: Speaker) -> _Stream:
        stream = self._streams.get(speaker)
        if stream is None:
            stream = self._streams[speaker] = _Stream()
            if len(self._streams) > _MOST_SPEAKERS:
                self._streams.popitem(last=False)
        return stream


def _last_word(text: str) -> int:
    """Where the last word of a text begins; at its end, when the text ends in a blank or in a word without end."""
    at = len(text)
    while at and not text[at - 1].isspace():
        at -= 1
    return at if len(text) - at <= _LONGEST_WORD else len(text)


def _masked(stream: _Stream, text: str, mask: EventMask) -> str:
    """The next text of a stream, masked together with what came before it."""
    if not text:
        return text
    before = len(stream.context)
    whole = stream.context + text
    shown = cut_chunk(text, before, mask.texts.find(None, whole))
    key = whole.rfind("-----BEGIN ")
    is_in_key = key >= 0 and "-----END " not in whole[key:]
    stream.context = whole[max(key, len(whole) - _CONTEXT_OF_KEY) :] if is_in_key else whole[-_CONTEXT:]
    return shown


def default_masker(secrets: Iterable[str] = ()) -> Callable[[Event], Event]:
    """A mask for `Recorder`: returns the same event when it holds no known secret, and never raises.

    `secrets` are texts to mask wherever they are, beside what is found by its shape, name or place.
    """
    return RecordingMask(secrets)
