"""Runs in formats that other tools read, each with a report of what the format cannot hold.

Another package can add a format with these names: docs/how-to/add-an-exporter.md.
"""

from stenograph.export.exporter import Exporter, Piece, SideFile
from stenograph.fold.conversation import ChatRules, account_for_run, conversation, drop_part
from stenograph.fold.exchange import Call, Exchange, Notice, Thread, Turn, exchange
from stenograph.fold.losses import KINDS, LossReport

__all__ = [
    "KINDS",
    "Call",
    "ChatRules",
    "Exchange",
    "Exporter",
    "LossReport",
    "Notice",
    "Piece",
    "SideFile",
    "Thread",
    "Turn",
    "account_for_run",
    "conversation",
    "drop_part",
    "exchange",
]
