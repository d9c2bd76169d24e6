"""Makes a bundle of a run that is on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from stenograph.bundle.manifest import Manifest
from stenograph.bundle.mask import BundleMask
from stenograph.bundle.source import RunSource
from stenograph.bundle.spool import Spool
from stenograph.bundle.writing import BundleOptions, Extras, Writing
from stenograph.errors import InvalidRunId, StenographError, StoreError
from stenograph.journal.reader import JournalReader, read_events
from stenograph.model import Event
from stenograph.model.ids import check_run_id

Target = str | os.PathLike[str]


def create_bundle(
    target: Target,
    events: Iterable[Event],
    *,
    logs: Target | None = None,
    options: BundleOptions | None = None,
    source: str = "",
) -> Path:
    """Make a bundle of a run and return its path. `events` are a journal (`read_events`), a conversion, or values.

    A `target` that does not end in `.zip` is a folder; the bundle is named in it. `logs` is a file of log records in
    JSON lines. `source` names the origin of events that are not from a journal. The runs that a journal's run called
    are searched for beside it. Raises `SourceError` and `StoreError`; then no file was made or changed.
    """
    extras = Extras(logs=None if logs is None else Path(logs))
    return write_bundle(Path(target), events, options or BundleOptions(), extras, source=source)


def write_bundle(
    target: Path,
    events: Iterable[Event],
    options: BundleOptions,
    extras: Extras,
    *,
    source: str = "",
    mask: BundleMask | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """`create_bundle` with everything that only the recording process can add.

    `progress` is called with the bytes done and their total (0: not known).
    `mask` masks, whatever the options say; the options' own mask reads a journal once before it masks it.
    """
    is_named = target.suffix.lower() == ".zip"
    spool = Spool(target.parent if is_named else target)
    try:
        if mask is None and (options.redact or options.secrets):
            mask = BundleMask(options.secrets)
            if isinstance(events, JournalReader):
                mask.learn(read_events(events.path))
            elif isinstance(events, list | tuple):
                mask.learn(events)
        writing = Writing(spool, RunSource(events, mask=mask, path=source, progress=progress), options, extras, mask)
        manifest = writing.write()
        path = target if is_named else target / bundle_name(manifest)
        spool.publish(path, f"bundle-{manifest.bundle_id}", writing.at)
    except StenographError:
        raise
    except OSError as error:
        raise StoreError(
            f"cannot write the bundle {target}: {error.strerror}; nothing was left there, fix that and try again",
            str(target),
        ) from error
    finally:
        spool.discard()
    return path


def bundle_name(manifest: Manifest) -> str:
    """`stenograph-<run>-<time>-<id>.zip`: the default name of a bundle."""
    time = "".join(letter for letter in manifest.created_at[:19] if letter.isdigit() or letter == "T")
    run = "run"
    with suppress(InvalidRunId):  # an invalid id does not become part of a file's name
        run = check_run_id(manifest.run_id)[:8]
    return f"stenograph-{run}-{time}Z-{manifest.bundle_id[:8]}.zip"
