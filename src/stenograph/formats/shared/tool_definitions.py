"""Definitions of tools, from the shapes of all APIs to the wire format; emitted when they are new or changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.model.payload import TOOL_DEFINITIONS, SystemPayload

_SCHEMAS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema", "schema")
_encode = msgspec.json.Encoder(order="deterministic").encode


def definitions_of(tools: Any) -> list[dict[str, Any]]:
    """The tools that a list names or defines; what is neither is left out."""
    return [definition for tool in a_list(tools) for definition in _definitions(tool, None)]


def _definitions(tool: Any, namespace: str | None) -> Iterator[dict[str, Any]]:
    if isinstance(tool, str) and tool:
        yield {"name": tool}
    if not isinstance(tool, dict):
        return
    group = dicts(tool.get("functionDeclarations"))
    if tool.get("type") == "namespace":
        namespace, group = first_str(tool, "name"), dicts(tool.get("tools"))
    if group:
        for each in group:
            yield from _definitions(each, namespace)
        return
    kind = a_str(tool.get("type"))
    inner = a_dict(tool.get("function")) or a_dict(tool.get("custom")) or tool
    # A tool of the API itself has only its type as a name.
    name = first_str(inner, "name") or (kind if kind not in ("", "function", "custom", "namespace") else "")
    if not name:
        return
    found: dict[str, Any] = {"name": name}
    if description := first_str(inner, "description"):
        found["description"] = description
    if (schema := _schema_of(inner)) is not None:
        found["input_schema"] = schema
    if namespace or first_str(tool, "namespace"):
        found["namespace"] = namespace or tool["namespace"]
    if kind == "custom":
        found["kind"] = kind
    yield found


def _schema_of(tool: dict[str, Any]) -> Any:
    for name in _SCHEMAS:
        schema = tool.get(name)
        if isinstance(schema, dict):
            # Claude Code's snapshots hold the whole definition once more, under `schema`.
            return schema.get("input_schema", schema) if name == "schema" else schema
    return None


class ToolDefinitions:
    """Remembers the definitions that were emitted last."""

    def __init__(self) -> None:
        self._last: int | None = None

    @property
    def are_emitted(self) -> bool:
        """Whether any definitions were emitted."""
        return self._last is not None

    def changed(self, tools: Any) -> SystemPayload | None:
        """The event with these definitions; None when there are none, or they have not changed."""
        found = definitions_of(tools)
        if not found:
            return None
        try:
            digest = digest_of("tools", _encode(found))
        except UnicodeEncodeError:  # a lone surrogate, which is replaced when the event is written
            digest = digest_of("tools", json.dumps(found, sort_keys=True))
        if digest == self._last:
            return None
        self._last = digest
        names = ", ".join(each["name"] for each in found)
        return SystemPayload(subtype=TOOL_DEFINITIONS, text=names, data={"tools": found})
