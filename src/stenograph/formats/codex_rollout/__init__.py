"""codex_rollout: the files in which Codex keeps its threads, 0.42 to 0.166.

Theory of operation. A rollout says most things twice: as a `response_item` (what went to and came from the model) and
as an `event_msg` (what its user interface was told). Response items are the spine: they alone give messages, calls and
results. Their twins are `system.event`s with the twin's own type as subtype; what a twin adds to the spine (that a call
failed, how long it took, which thread it spawned) is taken from it. Tokens come from `token_usage_record` and, in files
that have none, from `token_count` when its total moves. Every line is mapped at once, by what stands before it.
"""

from stenograph.formats.codex_rollout.spec import SPEC

__all__ = ["SPEC"]
