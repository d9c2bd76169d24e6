"""Images, documents and sounds as attachment blocks, for every format."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

from stenograph.model.block import AttachmentBlock


def attachment(media_type: Any, data: str) -> AttachmentBlock | None:
    """Base64 content as a block; None when it is not base64."""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return _block(media_type, content, data)


def text_attachment(media_type: Any, content: bytes) -> AttachmentBlock:
    """Plain text content as a block."""
    return _block(media_type, content, base64.b64encode(content).decode())


def _block(media_type: Any, content: bytes, data: str) -> AttachmentBlock:
    return AttachmentBlock(
        fidelity="agent_emitted",
        media_type=media_type if isinstance(media_type, str) and media_type else "application/octet-stream",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        data=data,
    )
