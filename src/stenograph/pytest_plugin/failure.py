"""Keeps the run of a failing test: writes a bundle and a page, and names them in the report and in JUnit XML."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from stenograph.atomic_file import write_atomically
from stenograph.bundle.create import create_bundle
from stenograph.errors import StenographError
from stenograph.render.html import html_page

if TYPE_CHECKING:
    import pytest

    from stenograph.pytest_plugin.run import RunForTest

_LONGEST = 80
"""Characters of a test's name in the names of files."""


def attach(item: pytest.Item, report: pytest.TestReport, run: RunForTest, error: str, folder: Path) -> None:
    """Write the bundle and the page. Errors are added to the report, and never fail a test."""
    run.close(error)
    name = file_name(item.nodeid)
    bundle, page = folder / f"{name}.zip", folder / f"{name}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        events = run.events
        create_bundle(bundle, events, source=str(run.target or run.run.path))
        write_atomically(page, (part.encode("utf-8", "replace") for part in html_page(lambda: events)))
    except (StenographError, OSError) as problem:
        report.sections.append(("stenograph", f"the run of this test could not be kept: {problem}"))
        return
    report.sections.append(("stenograph", f"bundle: {bundle}\npage:   {page}"))
    # JUnit XML is written from the report of the teardown, which is made later, with the properties of the item.
    for properties in (report.user_properties, item.user_properties):
        properties += [("stenograph_bundle", str(bundle)), ("stenograph_page", str(page))]


def file_name(nodeid: str) -> str:
    """A test's name as the name of a file: short, plain, and different for different tests."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", nodeid.rpartition("/")[2]).strip("-.")
    return f"{plain[:_LONGEST]}-{hashlib.sha256(nodeid.encode('utf-8', 'replace')).hexdigest()[:8]}"
