"""Images, documents and sounds inside messages, as attachment blocks."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared import attachment as attachments
from stenograph.formats.shared.loose import a_dict, a_str, first_str
from stenograph.model.block import AttachmentBlock

_AUDIO = {"mp3": "audio/mpeg"}


def attachment_of(part: dict[str, Any]) -> AttachmentBlock | None:
    """The attachment in a content part; None when it has none, or only a URL or a file id."""
    if "source" in part:
        return _from_source(a_dict(part["source"]))
    if "input_audio" in part:
        sound = a_dict(part["input_audio"])
        kind = a_str(sound.get("format")) or "wav"
        return attachment(_AUDIO.get(kind, f"audio/{kind}"), sound.get("data"))
    return from_url(_url_in(part))


def attachment(media_type: Any, data: Any) -> AttachmentBlock | None:
    """An attachment of base64 text; None when it is not base64, or empty."""
    return attachments.attachment(media_type, data) if isinstance(data, str) and data else None


def _from_source(source: dict[str, Any]) -> AttachmentBlock | None:
    """Anthropic's `source`: base64, or a plain text document."""
    if source.get("type") == "text" and isinstance(source.get("data"), str):
        content = source["data"].encode("utf-8", "replace")
        return attachments.text_attachment(a_str(source.get("media_type")) or "text/plain", content)
    return attachment(source.get("media_type"), source.get("data"))


def _url_in(part: dict[str, Any]) -> str:
    for holder in (part, a_dict(part.get("image_url")), a_dict(part.get("file"))):
        url = first_str(holder, "image_url", "file_data", "url")
        if url:
            return url
    return ""


def from_url(url: str) -> AttachmentBlock | None:
    """The attachment in a data URL; None for any other URL."""
    if not url.startswith("data:"):
        return None
    head, _, data = url[5:].partition(",")
    media_type, _, encoding = head.partition(";")
    return attachment(media_type, data) if "base64" in encoding else None
