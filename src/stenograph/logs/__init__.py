"""Structured logs: transcript entries as DEBUG records of the standard `logging`, and a formatter that writes JSON."""

from stenograph.logs.emitter import TranscriptEmitter
from stenograph.logs.formatter import JsonFormatter, configure_json_logging

__all__ = ["JsonFormatter", "TranscriptEmitter", "configure_json_logging"]
