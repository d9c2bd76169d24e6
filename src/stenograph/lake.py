"""Transcripts of a bucket as tables, for people with a scheduler of their own: see `steno lake build`."""

from __future__ import annotations

from stenograph.fleet.lake.build import Built, build, chunks_of, commit_parts
from stenograph.fleet.lake.chunk import Part, chunk_job

__all__ = ["Built", "Part", "build", "chunk_job", "chunks_of", "commit_parts"]
