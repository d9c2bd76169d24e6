"""Python functions as tools: their description for a model, and calling them with the model's arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from stenograph.errors import InvalidTool
from stenograph.jsonable import jsonable
from stenograph.model import mend

_encode = msgspec.json.Encoder().encode
_NOT_BY_NAME = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Tool(Struct, frozen=True, kw_only=True):
    """A Python function that a model may call."""

    name: str
    description: str
    """The function's docstring."""
    parameters: dict[str, Any]
    """The JSON Schema of its arguments."""
    function: Callable[..., Any]
    arguments: type[Struct]
    """The arguments as a type, to check what a model sends."""

    @property
    def is_async(self) -> bool:
        """Whether calling it gives an awaitable."""
        return inspect.iscoroutinefunction(self.function)

    def bind(self, arguments: Any) -> dict[str, Any]:
        """Convert a model's arguments to the function's types; raises `ValueError` that names what does not fit."""
        fitted = msgspec.convert({} if arguments is None else arguments, self.arguments)
        return {name: getattr(fitted, name) for name in self.arguments.__struct_fields__}


def tool_of(function: Callable[..., Any]) -> Tool:
    """A function as a tool, by its signature and docstring; raises `InvalidTool` if that is impossible."""
    name = getattr(function, "__name__", None)
    if not callable(function) or not isinstance(name, str) or not name.isidentifier():
        raise InvalidTool(repr(function), "it has no name; give a named function with typed arguments")
    try:
        hints = typing.get_type_hints(function)
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError) as error:
        raise InvalidTool(name, f"its signature cannot be read ({error})") from error
    fields: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind in _NOT_BY_NAME:
            raise InvalidTool(
                name, f"a model passes arguments by name, which {parameter} does not accept; name each argument"
            )
        hint = hints.get(parameter.name, Any)
        default = parameter.default
        if default is parameter.empty:
            fields.append((parameter.name, hint))
        elif isinstance(default, str | int | float | None):
            fields.append((parameter.name, hint, default))
        else:  # the very object, as Python itself gives it; not shown to the model
            fields.append((parameter.name, hint, msgspec.field(default_factory=_giving(default))))
    try:
        arguments = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
        parameters = _schema(arguments)
    except (TypeError, ValueError) as error:
        why = str(error).splitlines()[-1]
        raise InvalidTool(name, f"its arguments have no JSON Schema ({why}); use plain types") from error
    return Tool(
        name=name,
        description=inspect.getdoc(function) or "",
        parameters=parameters,
        function=function,
        arguments=arguments,
    )


def tools_of(functions: Sequence[Callable[..., Any]]) -> dict[str, Tool]:
    """Functions as tools, by name; two of one name are refused."""
    tools: dict[str, Tool] = {}
    for function in functions:
        tool = tool_of(function)
        if tool.name in tools:
            raise InvalidTool(tool.name, "another tool has the same name; rename one")
        tools[tool.name] = tool
    return tools


def result_text(value: Any) -> str:
    """The result of a tool as text for the model."""
    return value if isinstance(value, str) else _encode(mend.scrub(jsonable(value))[0]).decode()


def _giving(value: Any) -> Callable[[], Any]:
    return lambda: value


def _schema(arguments: type[Struct]) -> dict[str, Any]:
    """The arguments' schema in one piece: models do not follow references to the top."""
    (top,), components = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    reference = top.get("$ref", "").rsplit("/", 1)[-1]
    schema = dict(components.pop(reference, top))
    schema.pop("title", None)
    schema.setdefault("properties", {})
    schema.setdefault("required", [])
    if components:
        schema["$defs"] = components
    return schema
