"""Counts conversations of ChatGPT with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What the branch that was shown holds; calls are named by their messages, results by the call before them."""
    counts = Counts()
    for conversation in records(path):
        nodes, branch = conversation["mapping"], []
        node = nodes[conversation["current_node"]]
        while node:
            branch.insert(0, node)
            node = nodes.get(node["parent"])
        called = ""
        for message in (node["message"] for node in branch if node["message"]):
            role, content = message["author"]["role"], message["content"]
            if role == "assistant" and message["recipient"] != "all":
                called = message["id"]
                counts.uses.append(called)
            elif role == "assistant" and content["content_type"] == "thoughts":
                thoughts = content.get("thoughts") or []
                counts.thinking += [f"{each['summary']}\n{each['content']}" for each in thoughts]
                counts.thinking += [] if thoughts else content["parts"]
            elif role == "assistant" and content["content_type"] != "reasoning_recap":
                counts.text += [part for part in content["parts"] if isinstance(part, str)]
            elif role == "tool":
                counts.results.append(called)
                counts.failed += [called] if content["content_type"] == "system_error" else []
    return counts.found()
