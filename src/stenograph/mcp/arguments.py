"""Checks the arguments of a tool call against its schema; knows only the parts of JSON Schema that we declare."""

from __future__ import annotations

from typing import Any

from stenograph.errors import InvalidQuery

_KINDS: dict[str, type[Any]] = {"string": str, "integer": int, "boolean": bool, "array": list}


def checked(schema: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with defaults filled in; raises `InvalidQuery` with what is wrong. A null counts as missing."""
    properties = schema["properties"]
    values = {name: value for name, value in arguments.items() if value is not None}
    for name, value in values.items():
        if name not in properties:
            raise InvalidQuery(f"unknown argument {name!r}; arguments: {', '.join(properties)}")
        _check(name, value, properties[name])
    missing = [name for name in schema["required"] if name not in values]
    if missing:
        raise InvalidQuery(f"missing argument {missing[0]!r}")
    return {name: about["default"] for name, about in properties.items() if "default" in about} | values


def _check(name: str, value: Any, about: dict[str, Any]) -> None:
    kind = about["type"]
    if not isinstance(value, _KINDS[kind]) or (kind == "integer" and isinstance(value, bool)):
        raise InvalidQuery(f"argument {name!r} must be of type {kind}, not {type(value).__name__}")
    if kind == "array":
        for each in value:
            _check(name, each, about["items"])
    if "enum" in about and value not in about["enum"]:
        raise InvalidQuery(f"argument {name!r} must be one of {', '.join(about['enum'])}")
    if kind == "integer" and not about["minimum"] <= value <= about.get("maximum", 1 << 53):
        most = f" and at most {about['maximum']:,}" if "maximum" in about else ""
        raise InvalidQuery(f"argument {name!r} must be at least {about['minimum']:,}{most}")
