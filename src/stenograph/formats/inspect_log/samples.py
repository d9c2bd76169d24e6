"""The samples of a log: of a JSON document, or of a ZIP (`.eval`) with a file for each."""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Identity
from stenograph.formats.inspect_log.detection import HEADS, sample_identity
from stenograph.formats.layout import Contents, StoredSession
from stenograph.formats.shared.collection import run_in, run_to_read
from stenograph.formats.shared.loose import a_dict, dicts

_FOLDER = "samples/"


def samples_in(log: Contents) -> list[StoredSession]:
    """Every sample, each as a separate log."""
    if log.names == ("",):
        return [run_in(sample_identity(each), each) for each in _split(a_dict(_one(log.read(""))))]
    head = next((a_dict(log.read(name)) for name in HEADS if name in log.names), {})
    names = sorted(name for name in log.names if name.startswith(_FOLDER))
    known = _known(log)
    return [_sample(log, name, head, known) for name in names]


def _one(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _split(log: dict[str, Any]) -> list[dict[str, Any]]:
    samples = dicts(log.get("samples"))
    return [{**log, "samples": [sample]} for sample in samples] or [{**log, "samples": []}]


def _sample(log: Contents, name: str, head: dict[str, Any], known: dict[str, str]) -> StoredSession:
    def read() -> dict[str, Any]:
        return {**head, "samples": [log.read(name)]}

    identity = _identity(head, known[name]) if name in known else sample_identity(read())
    return run_to_read(identity, read, log.state(name))


def _identity(head: dict[str, Any], uuid: str) -> Identity:
    return sample_identity({**head, "samples": [{"uuid": uuid}]})


def _known(log: Contents) -> dict[str, str]:
    """The ids of samples by the names of their files, from the summaries, so that no sample need be read."""
    summaries = log.read("summaries.json") if "summaries.json" in log.names else []
    found = {}
    for each in dicts(summaries):
        if isinstance(each.get("uuid"), str) and each["uuid"]:
            found[f"{_FOLDER}{each.get('id')}_epoch_{each.get('epoch')}.json"] = each["uuid"]
    return found
