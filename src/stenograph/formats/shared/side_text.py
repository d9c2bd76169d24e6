"""A side file as a parser takes it: its text, or a data URL of a picture or a sound."""

from __future__ import annotations

from base64 import b64encode

MEDIA = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "aac": "audio/aac",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "webm": "audio/webm",
    "aiff": "audio/aiff",
}
"""Media types by file suffix."""


def media_type_of(name: str) -> str | None:
    """The type of a picture or sound by its file's name; None for any other file."""
    return MEDIA.get(name.rpartition(".")[2].lower())


def side_text(name: str, data: bytes) -> str:
    """What a parser gets for a side file of that name with these bytes."""
    media_type = media_type_of(name)
    if media_type is None:
        return data.decode("utf-8", "replace")
    return f"data:{media_type};base64,{b64encode(data).decode()}"
