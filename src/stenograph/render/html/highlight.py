"""Code in colours: tokens of Pygments as a few of our classes. Bounded, because lexers are slow.

Only well-known languages are coloured; code that the lexer does not return unchanged stays plain.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from stenograph.render.html.escape import pre_of, text

PAGE_CHARACTERS = 100_000
"""How much code is coloured on a page; the rest stays plain."""
BLOCK_CHARACTERS = 16_000
LONGEST_LINE = 1_000
_LANGUAGES = {
    "bash": ("bash", "sh", "shell", "zsh", "console"),
    "c": ("c", "h"),
    "cpp": ("cpp", "c++", "cc", "cxx", "hpp"),
    "csharp": ("csharp", "cs", "c#"),
    "css": ("css",),
    "docker": ("dockerfile", "docker"),
    "go": ("go", "golang"),
    "html": ("html", "htm"),
    "ini": ("ini", "cfg"),
    "java": ("java",),
    "javascript": ("javascript", "js", "mjs", "cjs", "jsx"),
    "json": ("json", "jsonc"),
    "kotlin": ("kotlin", "kt"),
    "lua": ("lua",),
    "make": ("make", "makefile", "mk"),
    "php": ("php",),
    "python": ("python", "py", "python3", "pyi"),
    "ruby": ("ruby", "rb"),
    "rust": ("rust", "rs"),
    "scss": ("scss",),
    "sql": ("sql",),
    "swift": ("swift",),
    "toml": ("toml",),
    "typescript": ("typescript", "ts", "tsx"),
    "xml": ("xml", "svg"),
    "yaml": ("yaml", "yml"),
}
"""Names of Pygments, each with the names of fences and the endings of files."""
LANGUAGES = {name: lexer for lexer, names in _LANGUAGES.items() for name in names}
"""The lexer of each name of a fence and each ending of a file."""
_CLASSES = (
    ("Token.Comment", "t-c"),
    ("Token.Literal.String", "t-s"),
    ("Token.Literal.Number", "t-n"),
    ("Token.Keyword", "t-k"),
    ("Token.Name.Function", "t-f"),
    ("Token.Name.Class", "t-f"),
    ("Token.Name.Tag", "t-k"),
    ("Token.Name.Attribute", "t-f"),
    ("Token.Name.Builtin", "t-b"),
    ("Token.Name.Decorator", "t-b"),
    ("Token.Operator.Word", "t-k"),
)


class Highlighter:
    """Colours the code of one page, up to a limit."""

    def __init__(self, budget: int = PAGE_CHARACTERS) -> None:
        self._left = budget

    def pre(self, code: str, *, language: str = "", path: str = "", kind: str = "") -> str:
        """A block of code."""
        return pre_of(self.html(code, language=language, path=path), kind)

    def html(self, code: str, *, language: str = "", path: str = "") -> str:
        """Code of a language, or of a file, as HTML for the inside of an element."""
        name = LANGUAGES.get(language.lower() or _ending(path))
        if name is None or len(code) > min(self._left, BLOCK_CHARACTERS) or not _is_code(code):
            return text(code)
        self._left -= len(code)
        spans = _spans(name, code)
        return text(code) if spans is None else "".join(spans)


def _ending(path: str) -> str:
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    return name.rpartition(".")[2]


def _is_code(code: str) -> bool:
    return "\x1b" not in code and max(map(len, code.split("\n"))) <= LONGEST_LINE


@cache
def _lexer(name: str) -> Any:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # and slow to import

    return get_lexer_by_name(name)


@cache
def _class(kind: Any) -> str:
    name = str(kind)
    return next((each for prefix, each in _CLASSES if name.startswith(prefix)), "")


def _spans(name: str, code: str) -> list[str] | None:
    """The code with its tokens in spans; None where the lexer returns another text."""
    merged: list[tuple[str, list[str]]] = []
    for _, kind, value in _lexer(name).get_tokens_unprocessed(code):
        each = _class(kind)
        if merged and (merged[-1][0] == each or not value.strip()):
            merged[-1][1].append(value)
        else:
            merged.append((each, [value]))
    pieces = [(kind, "".join(values)) for kind, values in merged]
    if "".join(piece for _, piece in pieces) != code:
        return None
    return [f'<span class="{kind}">{text(piece)}</span>' if kind else text(piece) for kind, piece in pieces]
