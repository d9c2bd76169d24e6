"""The house in plain words: names and sentences of `src`, and the pages that lead a newcomer through it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "stenograph"
MODULES = sorted(SOURCE.rglob("*.py"))
TEXTS = {path: path.read_text("utf-8") for path in MODULES}
DIALECT = re.compile(r"\b(?:told|nobody|somebody|whoever)\b", re.IGNORECASE)
MOST = 20
"""Lines that explain a decision with such a word may stay; the reading of the house names the best of them."""
RIDDLES = {
    *("errand", "text_mill", "word_process", "skin", "slot", "given", "news", "spoken", "passage", "told", "untold"),
    *("twin", "wake", "question", "fitting", "frozen_parser", "catalog", "run_draft", "likeness", "telling"),
    *("outline", "survey", "rereading", "visible", "bare", "guess", "packed", "account", "member"),
}
"""Module names that needed a dictionary."""


def test_src_has_few_words_of_the_dialect() -> None:
    """Straight sentences: a noun where "nobody" or "whoever" stood, a verb of the field where "told" stood."""
    found = [(path.name, word) for path in MODULES for word in DIALECT.findall(TEXTS[path])]
    assert len(found) <= MOST, found


def test_a_module_is_named_for_what_it_is() -> None:
    """No name that only its author understands."""
    assert sorted(path.relative_to(SOURCE).as_posix() for path in MODULES if path.stem in RIDDLES) == []


def test_texts_say_is_not_a() -> None:
    """No text or docstring has "is no journal" for "is not a journal"."""
    wrong = re.compile(r"\b(?:is|are|was|were) no (?!more\b|longer\b|such\b|one\b|way\b|need\b|reason\b|other\b)[a-z]")
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: {match[0]}"
        for path in MODULES
        for node in _texts(path)
        if (match := wrong.search(str(node.value))) and not _there_is(str(node.value), match.start())
    ]
    assert found == []


def _there_is(text: str, at: int) -> bool:
    """Whether it is "there is no …", or a relative form of it, which is plain English."""
    return re.search(r"\b(?:there|where|it|that|which)\s$", text[:at], re.IGNORECASE) is not None


def _texts(path: Path) -> Iterator[ast.Constant]:
    for node in ast.walk(ast.parse(TEXTS[path])) if " no " in TEXTS[path] else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


def test_a_docstring_stands_for_itself() -> None:
    """None that only makes sense after its neighbour."""
    found = [
        f"{path.relative_to(SOURCE)}: {docstring}"
        for path in MODULES
        if re.search(r'"""(?:The same|Likewise|Ditto|So does)', TEXTS[path])
        for node in ast.walk(ast.parse(TEXTS[path]))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        and re.match(r"(?:The same|Likewise|Ditto|So does)\b[^.]{0,40}\.?$", docstring := ast.get_docstring(node) or "")
    ]
    assert found == []


def test_the_documents_are_not_called_seeds() -> None:
    """A newcomer cannot know what a seed is, unless it is one of chance."""
    pages = [*MODULES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    seeds = re.compile(r"\bseeds?\b(?! of chance)", re.IGNORECASE)
    random = re.compile(r"random|chance|fixed|draw|hypothesis|seed: int|seed=", re.IGNORECASE)
    found = [
        f"{path.name}: {line.strip()}"
        for path in pages
        for line in path.read_text("utf-8").splitlines()
        if seeds.search(line) and not random.search(line) and "developmentseed" not in line
    ]
    assert found == []


def test_the_picture_of_the_rooms_is_of_the_code() -> None:
    """docs/rooms.svg is drawn from the import graph."""
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "draw-rooms"), "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "docs/rooms.svg is not of this code; run: .venv/bin/python tools/draw-rooms"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation.md"])
def test_every_place_that_a_page_names_is_there(page: str) -> None:
    """Where a page says which file to change, that file exists."""
    text = (ROOT / page).read_text("utf-8")
    places = set(re.findall(r"`((?:src|tests|docs|tools|bench)/[\w./-]+)`", text))
    assert places
    assert sorted(place for place in places if not (ROOT / place).exists()) == []


def test_every_room_has_its_line_in_contributing() -> None:
    """What a room holds and what it refuses."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert sorted(room for room in rooms if f"| `{room}` |" not in text) == []


def test_the_ten_commonest_changes_have_a_place() -> None:
    """A table says where each is made."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Where do I change")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| (?!---|to )", text, re.MULTILINE)) >= 10


def test_what_is_left_out_on_purpose_is_said() -> None:
    """So that nobody waits for it."""
    text = (ROOT / "docs" / "explanation.md").read_text("utf-8").partition("left out on purpose")[2].lower()
    for word in ("semantic search", "full-screen", "encrypted", "gist", "user management", "hub"):
        assert word in text


def test_the_folders_show_the_architecture() -> None:
    """The rooms within the large rooms, and no tools of all rooms in `journal`."""
    for place in ("archive/store", "archive/keep", "archive/index", "cli/commands", "formats/shared"):
        assert (SOURCE / place / "__init__.py").exists()
    for place in ("adapters/following", "adapters/commands", "adapters/evaluations", "fleet/store", "fleet/lake"):
        assert (SOURCE / place / "__init__.py").exists()
    assert not {"guard.py", "forked.py", "jsonable.py", "clock.py", "whole_file.py"} & {
        path.name for path in (SOURCE / "journal").iterdir()
    }


def test_modules_of_each_room_were_read_by_strangers() -> None:
    """Three of each room, all that there are where it has fewer; the modules that the page names are there."""
    text = (ROOT / "docs" / "design" / "011-plain-words.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w/, ]+) \|", text, flags=re.MULTILINE))
    assert rows.keys() == {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    for room, names in rows.items():
        modules = names.split(", ")
        assert len(modules) == 3 or room == "logs"
        assert all((SOURCE / room / f"{name}.py").exists() for name in modules), room


def test_every_private_name_is_used() -> None:
    """A function, class or value that only its own module may use is used there."""
    unused = []
    for path in MODULES:
        words = Counter(re.findall(r"\w+", TEXTS[path]))
        names = [name for node in ast.parse(TEXTS[path]).body for name in _bound_by(node)]
        unused += [
            f"{path.relative_to(SOURCE)}: {name}"
            for name in names
            if name.startswith("_") and not name.startswith("__") and words[name] < 2
        ]
    assert unused == []


def _bound_by(node: ast.stmt) -> list[str]:
    """The names that a statement of a module gives to something."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


@pytest.mark.parametrize("place", ["bundle/zip_file.py", "transcript/project.py", "query/bundle_parts.py"])
def test_what_looks_needless_says_what_it_saves(place: str) -> None:
    """Code that the reading of the house wanted to remove, and that was kept, has its measurement beside it."""
    assert re.search(r"Measured .*?\d", TEXTS[SOURCE / place], re.DOTALL)


@pytest.mark.parametrize(
    "place",
    [
        *("cli/figures.py", "archive/text_mill.py", "archive/word_process.py", "archive/errand.py", "cli/target.py"),
        *("adapters/collector.py", "cli/fitting.py"),
    ],
)
def test_a_second_way_to_do_a_thing_stays_removed(place: str) -> None:
    """Modules that did what another one does."""
    assert not (SOURCE / place).exists()
