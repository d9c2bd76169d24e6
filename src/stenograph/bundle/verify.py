"""Checks whether a bundle is as it was made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from stenograph.bundle.container import Container
from stenograph.bundle.manifest import NAME, BundleFile, read_manifest
from stenograph.bundle.seal import is_sealed
from stenograph.errors import RunNotFound, SourceError


class BundleFinding(Struct, frozen=True, kw_only=True):
    """One difference from the original."""

    kind: str
    """`unsealed`, `unreadable`, `missing`, `extra`, `changed`, or `unproved` where a proof was asked for."""
    file: str = ""
    """The file in the bundle; empty for the bundle as a whole."""
    what: str


class BundleReport(Struct, frozen=True, kw_only=True):
    """What a check of a bundle found."""

    path: str
    bundle_id: str = ""
    run_id: str = ""
    files: int = 0
    """How many files were checked."""
    bytes: int = 0
    """Their size."""
    findings: tuple[BundleFinding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every byte is as it was."""
        return not self.findings


def verify_bundle(path: str | os.PathLike[str]) -> BundleReport:
    """Check every byte of a bundle. Raises `SourceError` only when there is no file to read."""
    place = Path(path)
    findings = []
    if not is_sealed(place):
        findings.append(
            BundleFinding(kind="unsealed", what="its bytes are not those that were sealed: it was changed or repacked")
        )
    try:
        with Container(place) as container:
            manifest = read_manifest(container.read(NAME), str(place))
            findings += _changes(container, manifest.files)
    except RunNotFound:
        raise
    except SourceError as error:
        findings.append(BundleFinding(kind="unreadable", what=str(error)))
        return BundleReport(path=str(place), findings=tuple(findings))
    return BundleReport(
        path=str(place),
        bundle_id=manifest.bundle_id,
        run_id=manifest.run_id,
        files=len(manifest.files),
        bytes=sum(file.size for file in manifest.files),
        findings=tuple(findings),
    )


def _changes(container: Container, files: tuple[BundleFile, ...]) -> Iterator[BundleFinding]:
    listed = {file.name for file in files}
    for name in container.names:
        if name not in listed and name != NAME:
            yield BundleFinding(kind="extra", file=name, what="the manifest does not name it")
    for file in files:
        if file.name not in container.names:
            yield BundleFinding(kind="missing", file=file.name, what="the manifest names it")
            continue
        try:
            found = _digest(container, file.name)
        except SourceError as error:
            yield BundleFinding(kind="unreadable", file=file.name, what=str(error))
            continue
        if found != (file.sha256, file.size):
            yield BundleFinding(kind="changed", file=file.name, what=f"its digest is {found[0]}, not {file.sha256}")


def _digest(container: Container, name: str) -> tuple[str, int]:
    digest, size = sha256(), 0
    for chunk in container.chunks(name):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size
