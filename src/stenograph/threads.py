"""The former name of `stenograph.text_transcripts`, for programs that import `ThreadTranscripts` from here."""

from __future__ import annotations

from stenograph.text_transcripts import ThreadTranscripts

__all__ = ["ThreadTranscripts"]
