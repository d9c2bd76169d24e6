"""An active replay: takes requests, returns recorded answers, and reports what happened."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from stenograph.export.wording import result_text
from stenograph.fold.actions import shell_texts
from stenograph.fold.agent_tables import tables_of
from stenograph.fold.exchange import Call
from stenograph.model.block import AttachmentBlock
from stenograph.replay import chat_api, messages_api, responses_api
from stenograph.replay.comparison import Comparison
from stenograph.replay.matching import Match, Miss, Summary, find_answer
from stenograph.replay.recording import ATTACHMENT, Answer, Lane, Recording
from stenograph.replay.report import (
    Entry,
    OtherRequest,
    ReplayReport,
    RequestMissed,
    ResultCompared,
    SummaryGiven,
    TurnGiven,
)
from stenograph.replay.request import Request, Returned
from stenograph.replay.substitution import Substitution

MOST_REPEATS = 5
"""How often one answer may be given: an agent that asks more often is in a loop."""
ASIDE = "steno replay"
"""The answer to requests that are not part of a recorded conversation, such as one for the title of a session."""
_APIS = {"/messages": messages_api, "/chat/completions": chat_api, "/responses": responses_api}


class Reply(Struct, frozen=True, kw_only=True):
    """The response to a request."""

    status: int
    document: dict[str, Any]
    events: Iterator[dict[str, Any]] | None = None
    """The document as a stream, where the request asked for one."""
    has_names: bool = True
    """Whether the events of the stream have names, and no end mark."""


class ReplaySession:
    """One replay. Thread-safe.

    `folders` are recorded folders with their current counterparts; `volatile` are regular expressions for what may
    differ in results, beside the built-in ones.
    """

    def __init__(self, recording: Recording, folders: Mapping[str, str], volatile: Iterable[str] = ()) -> None:
        self.recording = recording
        self._substitution = Substitution(folders)
        self._comparison = Comparison((*volatile, *tables_of(recording.adapter).volatile))
        self._lock = threading.Lock()  # protects everything below, and the learned ids
        self._given: Counter[tuple[int, int]] = Counter()
        self._compared: dict[tuple[int, str], bool] = {}
        self._entries: list[Entry] = []

    def live_calls(self) -> list[Call]:
        """The calls that the answers ask for, with the current folders."""
        return [self._live(call) for call in self.recording.calls]

    def answer(self, path: str, body: Any) -> Reply:
        """The reply to a POST request."""
        api = next((api for end, api in _APIS.items() if path.endswith(end)), None)
        if api is None or not isinstance(body, dict):
            return self._other(path)
        request: Request = api.read(body)
        with self._lock:
            found = find_answer(self.recording, request, self._given, self._substitution.to_recorded)
            if isinstance(found, Summary):
                self._entries.append(SummaryGiven(lane=found.lane.name))
                return _reply(api, api.canned(self._substitution.to_live(found.text), request), request)
            if self._is_aside(request, found):
                self._entries.append(OtherRequest(path=path, status=200))
                return _reply(api, api.canned(ASIDE, request), request)
            if isinstance(found, Match) and self._given[found.answer.key] >= MOST_REPEATS:
                turn = found.answer.number
                why = f"turn {turn} of {found.lane.name} was asked for more than {MOST_REPEATS} times"
                found = Miss(why=why, lane=found.lane.name, turn=turn)
            if isinstance(found, Miss):
                return self._missed(api, request, found)
            self._compare(found.lane, request)
            return _reply(api, api.write(self._taken(found), request), request)

    def other(self, path: str, status: int) -> None:
        """Note a request that is not a POST."""
        with self._lock:
            self._entries.append(OtherRequest(path=path, status=status))

    def report(self) -> ReplayReport:
        """What happened so far."""
        with self._lock:
            answers = self.recording.answers
            own = {answer.key for answer in answers}
            results = sum(call.has_result for call in self.recording.calls)
            same = sum(self._compared.values())
            return ReplayReport(
                recorded_turns=len(answers),
                served_turns=len(own & self._given.keys()),
                recorded_results=results,
                same_results=same,
                different_results=len(self._compared) - same,
                misses=sum(isinstance(entry, RequestMissed) for entry in self._entries),
                unsupported=tuple(self.recording.unsupported),
                entries=tuple(self._entries),
            )

    def _is_aside(self, request: Request, found: Match | Miss) -> bool:
        """Whether a request is not part of a conversation, such as one for a title.

        Such a request offers no tools, and may quote the prompt or be the prompt. A recorded conversation without any
        call may be one of these itself: then its own prompt finds it.
        """
        if request.has_tools or not self.recording.always_offers_tools:
            return False
        return isinstance(found, Miss) or (found.how == "prompt" and not (found.is_exact and not found.lane.calls))

    def _other(self, path: str) -> Reply:
        counts = path.endswith("/count_tokens")
        status = 200 if counts else 404
        self.other(path, status)
        return Reply(status=status, document={"input_tokens": 1} if counts else _not_here(path))

    def _missed(self, api: ModuleType, request: Request, miss: Miss) -> Reply:
        self._entries.append(
            RequestMissed(why=miss.why, last_user=request.last_asked, nearest_lane=miss.lane, nearest_turn=miss.turn)
        )
        # Agents wait and try again after any other error than 400.
        return Reply(status=400, document=api.refusal(f"steno replay: {miss.why}"))

    def _taken(self, found: Match) -> Answer:
        """The answer, with the current folders and ids."""
        answer = found.answer
        self._entries.append(
            TurnGiven(lane=found.lane.name, turn=answer.number, how=found.how, retry=self._given[answer.key] > 0)
        )
        self._given[answer.key] += 1
        calls = tuple(self._live(call) for call in answer.turn.calls)
        return replace(answer, turn=replace(answer.turn, calls=calls))

    def _live(self, call: Call) -> Call:
        """A call as it must be now."""
        tool = tables_of(self.recording.adapter).tools.get(call.name)
        read_by_shell = shell_texts(tool, call.input) if tool is not None else ()
        return replace(call, input=self._substitution.to_live(call.input, read_by_shell))

    def _compare(self, lane: Lane, request: Request) -> None:
        """Compare results that come for the first time, in order: earlier ones reveal the ids of later ones."""
        for item in request.items:
            if not isinstance(item, Returned) or (lane.number, item.call_id) in self._compared:
                continue
            call = lane.calls.get(item.call_id)
            if call is None or not call.has_result:
                continue
            marks = [ATTACHMENT for block in call.blocks if isinstance(block, AttachmentBlock)]
            recorded = "\n".join(filter(None, [result_text(call), *marks]))
            self._substitution.ids.learn(recorded, self._substitution.folders.to_recorded(item.text))
            diff = self._comparison.difference(recorded, self._substitution.to_recorded(item.text))
            self._compared[lane.number, item.call_id] = diff is None
            place = lane.steps[lane.call_ids[item.call_id][0]]
            turn = place.number if isinstance(place, Answer) else 0
            self._entries.append(
                ResultCompared(
                    lane=lane.name, turn=turn, call_id=call.call_id, name=call.name, same=diff is None, diff=diff
                )
            )


def _reply(api: ModuleType, document: dict[str, Any], request: Request) -> Reply:
    events = api.events(document) if request.is_streamed else None
    return Reply(status=200, document=document, events=events, has_names=api is not chat_api)


def _not_here(path: str) -> dict[str, Any]:
    return {"error": {"message": f"steno replay does not serve {path}", "type": "not_found_error"}}
