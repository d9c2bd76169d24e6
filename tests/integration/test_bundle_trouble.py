"""Bundles in trouble: killed at every step, a disk without room, places that cannot be written, odd log records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Python
from stenograph import start_run
from stenograph.bundle import DebugBundle

KILLED = """
    import os, signal, sys
    from pathlib import Path
    from stenograph import read_events
    from stenograph.bundle import BundleOptions, DebugBundle, create_bundle

    journal, target = sys.argv[1], Path(sys.argv[2])
    options = BundleOptions(environment=False)
    create_bundle(target.with_name("warm.zip"), read_events(journal), options=options)  # all is loaded now
    target.with_name("warm.zip").unlink()
    STEPS = ("open", "os.", "tempfile.", "shutil.", "fcntl.")
    has_old = len(sys.argv) > 3
    if has_old:
        create_bundle(target, read_events(journal), options=options)
        old = target.read_bytes()
    steps, seen = [], set()
    for number in range(1, 1000):
        child = os.fork()
        if child == 0:
            count = 0
            def hook(event, arguments):
                global count
                if event.startswith(STEPS):
                    count += 1
                    if count == number:
                        print(event, flush=True)
                        os.kill(os.getpid(), signal.SIGKILL)
            sys.addaudithook(hook)
            create_bundle(target, read_events(journal), options=options)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if target.exists():
            assert DebugBundle.load(target).verify().ok, number
            seen.add("old" if has_old and target.read_bytes() == old else "new")
        else:
            assert not has_old, number
            seen.add("none")
        if has_old:
            target.write_bytes(old)
        else:
            target.unlink(missing_ok=True)
        if status == 0:
            break
    else:
        raise AssertionError("it never came to an end")
    assert seen == ({"old", "new"} if has_old else {"none", "new"}), seen
    for spool in target.parent.glob(".stenograph-spool-*"):
        os.utime(spool, (0, 0))
    create_bundle(target, read_events(journal), options=options)
    assert sorted(path.name for path in target.parent.iterdir()) == [target.name]
"""


@pytest.mark.parametrize("old", [(), ("old",)], ids=["new", "replacing"])
def test_killed_at_every_step_a_bundle_is_whole_or_as_before(
    root: Path, tmp_path: Path, python: Python, old: tuple[str, ...]
) -> None:
    """Before, at and after everything that it asks of the file system: spooling, sealing, renaming, sweeping up."""
    with start_run("x", root=root) as run:
        run.user("hi")
        with run.call_workflow("child") as child:
            child.user("and you")
    (tmp_path / "out").mkdir()
    done = python(KILLED, run.path, tmp_path / "out" / "a.zip", *old)
    steps = done.stdout.splitlines()
    assert len(steps) > 20
    assert {"open", "os.rename", "tempfile.mkdtemp"} <= set(steps)


FULL = """
    import json, logging, os, resource, sys
    from pathlib import Path
    from stenograph import read_events
    from stenograph.bundle import BundleOptions, debug_bundle

    told = []
    class Told(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())
    logging.getLogger("stenograph.guard").addHandler(Told())
    logging.getLogger("stenograph.guard").propagate = False
    recording = debug_bundle("out", root="storage", options=BundleOptions(environment=False))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
    reached = 0
    with recording as bundle:
        for number in range(200):
            bundle.run.user("word " * 100)
            logging.getLogger("host").warning(os.urandom(500).hex())
            reached += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    left = sorted(path.name for path in Path("out").iterdir()) if Path("out").exists() else []
    print(json.dumps({"reached": reached, "path": bundle.path and str(bundle.path), "told": told, "left": left}))
"""


@pytest.mark.parametrize("room", [0, 1, 700, 20_000, 80_000, 150_000])
def test_a_disk_without_room_never_reaches_the_block(
    room: int, tmp_path: Path, python: Python, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The block runs to its end, the log says what is missing, and what stands in the folder is a whole bundle."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STENOGRAPH_STRICT")
    said: dict[str, Any] = json.loads(python(FULL, room).stdout)
    assert said["reached"] == 200
    assert said["told"]
    assert said["left"] == ([] if said["path"] is None else [Path(said["path"]).name])
    if said["path"] is not None:
        bundle = DebugBundle.load(said["path"])
        assert bundle.verify().ok
        assert bundle.manifest.counts.log_records_lost > 0 or bundle.manifest.counts.events < 202


ODD = """
    import json, logging, sys
    from stenograph.bundle import BundleOptions, DebugBundle, debug_bundle

    class Odd:
        def __repr__(self): raise RuntimeError("no words")
        def __str__(self): raise RuntimeError("no words")
        def __reduce__(self): raise RuntimeError("no pickle")
        def __eq__(self, other): raise RuntimeError("no equal")
        __hash__ = None
    class Key:
        def __repr__(self): raise RuntimeError("no words")
    loop = []
    loop.append(loop)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    values = [Odd(), {"a": Odd()}, {Key(): 1}, loop, deep, "\\ud800", b"\\xff", float("nan"), 10**5000, {1, 2}]
    log = logging.getLogger("host")
    with debug_bundle("a.zip", root="storage", options=BundleOptions(environment=False)) as bundle:
        for number, value in enumerate(values):
            log.warning("number %d", number, extra={"event": f"odd.{number}", "context": {"value": value}})
            log.warning("value %s", number, extra={"context": value})
            log.warning("value %s %d", value)
            log.warning(value)
        log.warning("fine")
    loaded = DebugBundle.load(bundle.path)
    assert loaded.verify().ok
    host = [record for record in loaded.logs if record["logger"] == "host"]
    print(json.dumps([len(values), len(host), loaded.manifest.counts.log_records_lost, host[-1]["message"]]))
"""


def test_odd_log_records_never_reach_the_block(tmp_path: Path, python: Python, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that nothing can write, name or compare: each record is there, or is counted as lost."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STENOGRAPH_STRICT")
    values, kept, lost, last = json.loads(python(ODD).stdout)
    assert kept + lost == 4 * values + 1
    assert kept > 2 * values
    assert last == "fine"


UNWRITABLE = """
    import json, logging, sys
    from stenograph.bundle import debug_bundle
    logging.getLogger("stenograph").setLevel(logging.CRITICAL)
    paths = []
    for target in sys.argv[1:]:
        with debug_bundle(target, root="storage") as bundle:
            bundle.run.user("hi")
        paths.append(bundle.path)
    print(json.dumps(paths))
"""


def test_a_target_that_cannot_be_written_never_reaches_the_block(
    tmp_path: Path, python: Python, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in the way, a folder called like the zip, a name that no file can have."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STENOGRAPH_STRICT")
    Path("file").touch()
    Path("full.zip").mkdir()
    Path("full.zip", "mine").touch()
    said = python(UNWRITABLE, "file/a.zip", "file", "full.zip", "x" * 300 + ".zip", "/proc/none/a.zip").stdout
    assert json.loads(said) == [None] * 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full.zip", "storage"]
    assert Path("full.zip", "mine").exists()
