"""Agents' own files: finding what belongs together, opening it, and reading it as canonical events."""

from stenograph.sources.conversion import Conversion, FileReport, convert, convert_stream
from stenograph.sources.detection import Detection, detect_file

__all__ = ["Conversion", "Detection", "FileReport", "convert", "convert_stream", "detect_file"]
