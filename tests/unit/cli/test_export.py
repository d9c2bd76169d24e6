"""`steno export --to`: runs in the formats that others read."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from archive_cases import claude_line, written
from run_kinds import make_session
from stenograph import export_run, open_run
from stenograph.errors import InvalidFormat, InvalidOption
from stenograph.export.exporter import exporters


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session with calls, one of them open, and a subagent."""
    return make_session(tmp_path / "home")


def test_every_format_is_listed_with_its_options(steno: Any) -> None:
    """For people and as JSON."""
    listed = {each["name"]: each for each in steno("export", "--list", "--json").json}
    text = steno("export", "--list").out
    assert list(listed) == list(exporters())
    for name, exporter in exporters().items():
        assert listed[name]["options"] == {option: list(values) for option, values in exporter.options.items()}
        assert f"{name}\n  {exporter.what}\n" in text


BINARY = {"inspect-eval", "otlp-protobuf", "parquet", "scout"}


@pytest.mark.parametrize("name", exporters())
def test_a_run_is_written_in_every_format(steno: Any, session: Path, tmp_path: Path, name: str) -> None:
    """To a file, the same to standard output and from Python; the losses are one line on standard error."""
    done = steno("export", session, "--to", name, "-o", tmp_path / "made", "--report", tmp_path / "report.json")
    assert (done.code, done.out) == (0, "")
    assert done.err.count("\n") == 1
    export = export_run(session, name)
    assert (tmp_path / "made").read_bytes() == export.data
    assert json.loads((tmp_path / "report.json").read_bytes()) == [export.losses]
    assert export.losses["carried"]["calls"] > 0
    if name not in BINARY:
        printed = steno("export", session, "--to", name)
        assert printed.out.encode() == export.data


def test_runs_go_into_a_folder(steno: Any, session: Path, tmp_path: Path) -> None:
    """Named after their ids."""
    other = written(
        tmp_path / "other.jsonl", claude_line(1, text="Hello.", session="22222222-2222-4222-8222-222222222222")
    )
    folder = f"{tmp_path}/out/"
    assert steno("export", session, other, "--to", "atif", "-o", folder).code == 0
    assert len(list(Path(folder).glob("*.trajectory.json"))) == 2


def test_rows_of_several_runs_are_one_file(steno: Any, session: Path, tmp_path: Path) -> None:
    """One after the other; other formats want a folder."""
    assert steno("export", session, session, "--to", "messages", "-o", tmp_path / "rows").code == 0
    assert (tmp_path / "rows").read_bytes() == export_run(session, "messages").data * 2
    refused = steno("export", session, session, "--to", "atif", "-o", tmp_path / "one")
    assert (refused.code, "folder" in refused.err) == (2, True)


def test_mistakes_are_one_line(steno: Any, session: Path) -> None:
    """An unknown format, an option of another format, a value that it does not have, nothing named."""
    for arguments, word in (
        ((session, "--to", "nothing"), "nothing"),
        ((session, "--to", "atif", "--arguments", "string"), "--arguments does not apply to atif"),
        ((session, "--to", "atif", "--subagents", "maybe"), "embed, files, drop"),
        ((session,), "--to FORMAT"),
        ((), "--list"),
    ):
        done = steno("export", *arguments)
        assert (done.code, word in done.err, "Traceback" in done.err) == (2, True, False)
    assert steno("export", "/nowhere", "--to", "atif").code == 3
    assert steno("export", session, "--to", "atif", "-o", "/nowhere/there/x").code == 4
    with pytest.raises(InvalidFormat):
        export_run(session, "nothing")
    with pytest.raises(InvalidOption):
        export_run(session, "atif", open="cut")


def test_a_trace_is_sent_to_a_collector(steno: Any, session: Path) -> None:
    """The very file, as JSON, to the path of the protocol; a refusal and a wrong address are one line."""
    taken: list[tuple[str, str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            taken.append((self.path, self.headers["Content-Type"], data))
            self.send_response(200 if len(taken) == 1 else 415)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            done = steno("export", session, "--to", "otlp", "--endpoint", address)
            refused = steno("export", session, "--to", "otlp", "--endpoint", address)
        finally:
            server.shutdown()
            thread.join()
    assert (done.code, done.out) == (0, "")
    assert taken[0] == ("/v1/traces", "application/json", export_run(session, "otlp").data)
    assert (refused.code, "415" in refused.err) == (4, True)
    wrong = steno("export", session, "--to", "otlp", "--endpoint", "nowhere")
    assert (wrong.code, "nowhere" in wrong.err, "Traceback" in wrong.err) == (2, True, False)
    gone = steno("export", session, "--to", "otlp", "--endpoint", address)
    assert (gone.code, address in gone.err, "Traceback" in gone.err) == (4, True, False)
    assert steno("export", session, "--to", "atif", "--endpoint", address).code == 2
    assert steno("export", session, "--to", "otlp", "--header", "a=b").code == 2


@pytest.mark.parametrize("name", exporters())
def test_secrets_are_masked(steno: Any, tmp_path: Path, name: str) -> None:
    """In every format, on the command line and from Python."""
    secret = "ghp_" + "aB3" * 12
    path = written(
        tmp_path / "a.jsonl", claude_line(1, text=f"Use {secret}."), claude_line(2, "assistant", f"{secret}!")
    )
    steno("export", path, "--to", name, "-o", tmp_path / "plain")
    assert secret in text_in((tmp_path / "plain").read_bytes())
    steno("export", path, "--to", name, "--redact", "-o", tmp_path / "masked")
    assert secret not in text_in((tmp_path / "masked").read_bytes())
    with open_run(path) as run:
        export = export_run(run, name, redact=True)
        assert not any(secret in text_in(data) for data in (export.data, *export.side_files.values()))


def text_in(data: bytes) -> str:
    """What a file says, also where it is compressed."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "".join(archive.read(name).decode() for name in archive.namelist())
    if data.startswith(b"PAR1"):
        return str(pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist())
    return data.decode("utf-8", "replace")
