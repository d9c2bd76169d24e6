"""Counts conversations of gptme with nothing but `json` and naive searches. Knows nothing of stenograph.

A call is `@tool(id): {…}` at the beginning of a line, or a block of code in the language of a tool; the next words of
the program that are not hidden answer it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records

_BLOCK = re.compile(r"```(shell|ipython|save|patch|read)([^\n]*)\n(.*?)\n```", re.DOTALL)
_LINE = re.compile(r"^@(\w+)\(([^)]+)\): (\{.*\})$", re.MULTILINE)
_THINK = re.compile(r"<think>(.*?)</think>", re.DOTALL)


def count(path: Path) -> dict[str, Any]:
    """What one file holds."""
    counts = Counts()
    open_calls: list[str] = []
    met: dict[str, int] = {}
    people = answers = 0
    for row in records(path):
        content = row["content"]
        if row["role"] == "assistant":
            answers += 1
            counts.thinking += [each.strip() for each in _THINK.findall(content)]
            rest = _THINK.sub("", content)
            counts.uses += [found[1] for found in _LINE.findall(rest)]
            for tool, _, _ in _BLOCK.findall(rest):
                met[tool] = met.get(tool, 0) + 1
                open_calls.append(tool if met[tool] == 1 else f"{tool}#{met[tool]}")
                counts.uses.append(open_calls[-1])
            counts.text.append("".join(part.strip() for part in _LINE.sub("\0", _BLOCK.sub("\0", rest)).split("\0")))
        elif row["role"] == "user":
            people += not content.startswith("<system>")
        elif row["role"] == "tool" or row.get("call_id") or (open_calls and not row.get("hide")):
            name = row.get("call_id") or (open_calls.pop(0) if open_calls else "")
            counts.results.append(name)
            counts.failed += [name] if "is not available for execution" in content else []
    return counts.found() | {"messages": {"user": people, "assistant": answers}}
