"""codex_rollout: the files in which Codex keeps its threads, 0.42 to 0.166.

Theory of operation. A rollout says most things twice: as a `response_item` (what went to and came from the model) and
as an `event_msg` (what was sent to its user interface). Only response items become messages, calls and results. The
duplicates are `system.event`s with their own type as subtype; what a duplicate adds (that a call failed, how long it
took, which thread it spawned) is taken from it. Tokens come from `token_usage_record` and, in files without it, from
`token_count` when its total changes. Every line is mapped at once, by the lines before it.
"""

from stenograph.formats.codex_rollout.spec import SPEC

__all__ = ["SPEC"]
