"""`steno evidence`: keys, checkpoints after each sync, places, witnesses, verdicts in three parts, proofs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from archive_cases import claude_line, session_path, written
from stenograph.evidence.checkpoint import checkpoint_of
from stenograph.evidence.note import COSIGNATURE, Signature, VerifierKey, cosigned, parse_note, parse_verifier_key
from stenograph.evidence.run_proof import check_run_proof
from stenograph.merkle import is_consistent

Steno = Callable[..., Any]


class Archived:
    """A home folder and its archive, with a key beside them."""

    def __init__(self, folder: Path, steno: Steno) -> None:
        self.home, self.path, self.key = folder / "home", folder / "archive", folder / "keys" / "evidence.key"
        self._steno = steno

    def add(self, number: int) -> Any:
        """Keep one more session."""
        session = f"0f1e2d3c-4b5a-4978-8695-{number:012}"
        written(session_path(self.home, session), claude_line(number, text=f"plan {number}", session=session))
        return self.sync()

    def sync(self) -> Any:
        return self._steno("sync", "--home", self.home, "--archive", self.path, "--json")

    def evidence(self, *arguments: object) -> Any:
        return self._steno("evidence", *arguments, "--archive", self.path)


@pytest.fixture
def archived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steno: Steno) -> Archived:
    """An archive of two sessions; the configuration is in a folder of the test's own."""
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("STENOGRAPH_CONFIG", str(tmp_path / "config.toml"))
    found = Archived(tmp_path, steno)
    found.add(1)
    found.add(2)
    return found


def test_init_makes_a_key_outside_the_archive_and_signs(archived: Archived, tmp_path: Path) -> None:
    """The key is for its owner alone, beside the configuration, and its public half is told."""
    told = archived.evidence("init", "--json").json
    key = tmp_path / "evidence.key"
    assert told["key"] == str(key)
    assert key.stat().st_mode & 0o077 == 0
    note = parse_note(told["note"].encode())
    checkpoint = checkpoint_of(note)
    assert parse_verifier_key(told["vkey"]).check(note) == 0
    assert checkpoint.size == told["size"] == 2
    assert json.loads((archived.path / "kept" / "archive.json").read_text())["id"] in checkpoint.origin
    data = b"".join(path.read_bytes() for path in archived.path.rglob("*") if path.is_file())
    assert b"PRIVATE KEY" not in data


def test_a_key_inside_the_archive_is_refused(archived: Archived) -> None:
    """A copy of the archive must not have the key."""
    ended = archived.evidence("init", "--key", archived.path / "key")
    assert ended.code == 4
    assert "inside the archive" in ended.err


def test_a_sync_signs_a_checkpoint_to_each_place(archived: Archived, tmp_path: Path) -> None:
    """Every folder gets tiles, the newest checkpoint and a dated copy; a sync without news signs nothing."""
    places = [tmp_path / "one", tmp_path / "two"]
    archived.evidence("init", "--to", places[0], "--to", places[1])
    assert archived.add(3).json["checkpoint"] == 3
    for place in places:
        assert checkpoint_of(parse_note((place / "checkpoint").read_bytes())).size == 3
        assert (place / "tile" / "entries" / "000.p" / "3").exists()
        assert {path.name.partition("-")[2] for path in (place / "checkpoints").iterdir()} == {"2", "3"}
    assert archived.sync().json["checkpoint"] is None


def test_places_of_the_configuration(archived: Archived, tmp_path: Path) -> None:
    """`[evidence]` names the key and further places, as seen from the file."""
    (tmp_path / "config.toml").write_text('[evidence]\nkey = "own.key"\nto = ["outside"]\n')
    assert archived.evidence("init", "--json").json["key"] == str(tmp_path / "own.key")
    assert checkpoint_of(parse_note((tmp_path / "outside" / "checkpoint").read_bytes())).size == 2


def test_a_git_repository_gets_a_commit(archived: Archived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each checkpoint is a commit."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a tester")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "tester@example.invalid")
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    assert archived.evidence("init", "--to", repository).code == 0
    archived.add(3)
    command = ["git", "-C", str(repository), "log", "--format=%s"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["Checkpoint of 3 leaves", "Checkpoint of 2 leaves"]
    command = ["git", "-C", str(repository), "status", "--porcelain"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_verify_says_three_things_apart(archived: Archived, tmp_path: Path) -> None:
    """Without init: integrity alone, not anchored; with a checkpoint from elsewhere, append-only, too."""
    bare = archived.evidence("verify")
    assert bare.code == 0
    assert "integrity     ok: 2 frames" in bare.out
    assert "consistent with itself, not anchored" in bare.out
    assert "completeness  unknown" in bare.out
    archived.evidence("init", "--to", tmp_path / "outside")
    archived.add(3)
    anchored = archived.evidence("verify")
    assert "append-only   ok: 3 leaves" in anchored.out
    assert "not anchored" not in anchored.out
    assert archived.evidence("verify", "--json").json["is_anchored"]


def test_verify_names_what_was_changed(archived: Archived, tmp_path: Path) -> None:
    """A tail that was cut does not match the checkpoint; exit code 1, and the file that is missing is named."""
    archived.evidence("init", "--to", tmp_path / "outside")
    archived.add(3)
    pack = archived.path / "kept" / "000001.pack"
    at = pack.read_bytes().rindex(b"\x93SP1")
    os.truncate(pack, at)
    ended = archived.evidence("verify")
    assert ended.code == 1
    assert "DOES NOT MATCH" in ended.out
    assert "000000000003.jsonl" in ended.out
    refused = archived.evidence("checkpoint")
    assert refused.code == 1
    assert "does not begin with" in refused.err


def test_an_archive_without_its_key_is_verified_by_the_public_one(archived: Archived, tmp_path: Path) -> None:
    """A copy verifies with the verifier key and the checkpoint alone; by another key it is not signed."""
    vkey = archived.evidence("init", "--to", tmp_path / "outside", "--json").json["vkey"]
    (tmp_path / "vkey").write_text(vkey)
    (tmp_path / "evidence.key").unlink()
    copy = tmp_path / "elsewhere"
    shutil.copytree(archived.path, copy)
    archived.path = copy
    ended = archived.evidence("verify", "--against", tmp_path / "outside", "--vkey", tmp_path / "vkey", "--json")
    assert ended.code == 0
    assert ended.json["is_anchored"]
    other = VerifierKey("stenograph.local/other", 1, Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    (tmp_path / "vkey").write_text(other.encode())
    ended = archived.evidence("verify", "--against", tmp_path / "outside", "--vkey", tmp_path / "vkey")
    assert ended.code == 1
    assert "NOT SIGNED" in ended.out


def test_what_cannot_be_read_is_3(archived: Archived, tmp_path: Path, steno: Steno) -> None:
    """No archive, no checkpoint, no key: one line each."""
    assert steno("evidence", "verify", "--archive", tmp_path / "none").code == 3
    assert archived.evidence("verify", "--against", tmp_path / "none").code == 3
    (tmp_path / "bad").write_text("bad")
    assert archived.evidence("verify", "--against", tmp_path / "bad").code == 3
    assert archived.evidence("verify", "--vkey", tmp_path / "bad").code == 3
    ended = archived.evidence("checkpoint")
    assert ended.code == 3
    assert "steno evidence init" in ended.err


def test_a_new_key_is_introduced_by_the_old_one(archived: Archived, tmp_path: Path) -> None:
    """Where the key changes, both sign the next checkpoint, so that who knows the old one can go on."""
    old = parse_verifier_key(archived.evidence("init", "--json").json["vkey"])
    told = archived.evidence("init", "--key", tmp_path / "new.key", "--json").json
    note = parse_note(told["note"].encode())
    assert old.check(note) == 0
    assert parse_verifier_key(told["vkey"]).check(note) == 0
    note = parse_note(archived.evidence("checkpoint", "--json").json["note"].encode())
    assert old.check(note) is None


def test_an_openssh_key_signs_and_so_does_ssh_keygen(archived: Archived, tmp_path: Path) -> None:
    """A key of the user's signs notes; `--ssh-sign` adds a detached signature that ssh-keygen accepts."""
    key = tmp_path / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    assert archived.evidence("init", "--key", key).code == 0
    out = tmp_path / "now.checkpoint"
    assert archived.evidence("checkpoint", "-o", out, "--ssh-sign", key).code == 0
    public = key.with_suffix(".pub").read_text().split()[:2]
    (tmp_path / "allowed").write_text(f'me namespaces="stenograph-checkpoint@v1" {" ".join(public)}\n')
    signature = ["-n", "stenograph-checkpoint@v1", "-s", f"{out}.sig"]
    command = ["ssh-keygen", "-Y", "verify", "-f", str(tmp_path / "allowed"), "-I", "me", *signature]
    for data, is_good in ((out.read_bytes(), True), (out.read_bytes().replace(b"2", b"3", 1), False)):
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        assert (done.returncode == 0) is is_good
    assert archived.evidence("checkpoint", "--ssh-sign", key).code == 2


_TSA = """
[ tsa ]
default_tsa = tsa1
[ tsa1 ]
serial = {0}/serial
signer_cert = {0}/tsa.pem
signer_key = {0}/tsa.key
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
ess_cert_id_alg = sha256
"""


class Authority(BaseHTTPRequestHandler):
    """A time stamping authority: OpenSSL, behind HTTP."""

    folder: Path

    def do_POST(self) -> None:
        query = self.folder / "query.tsq"
        query.write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
        command = ["openssl", "ts", "-reply", "-queryfile", query, "-config", self.folder / "tsa.cnf"]
        answer = subprocess.run(command, capture_output=True, check=True).stdout
        self.send_response(200)
        self.send_header("Content-Type", "application/timestamp-reply")
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[str]:
    """The address of an authority whose certificate is `tsa.pem`."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(tmp_path / "tsa.key"), "-out", str(tmp_path / "tsa.pem"), "-subj", "/CN=authority"]
    command += ["-addext", "extendedKeyUsage=critical,timeStamping", "-addext", "keyUsage=digitalSignature"]
    subprocess.run(command, capture_output=True, check=True)
    (tmp_path / "serial").write_text("01\n")
    (tmp_path / "tsa.cnf").write_text(_TSA.format(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Authority,), {"folder": tmp_path}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_authority_stamps_a_checkpoint(archived: Archived, tmp_path: Path, authority: str) -> None:
    """The stamp is of this checkpoint and of no other; without an authority or a file one line says what is wrong."""
    archived.evidence("init")
    out, certificates = tmp_path / "now.checkpoint", tmp_path / "tsa.pem"
    assert archived.evidence("checkpoint", "-o", out, "--tsa", authority).code == 0
    told = archived.evidence("verify", "--against", out, "--tsa-ca", certificates)
    assert told.code == 0
    assert f"time stamp    ok: {out} existed at" in told.out
    assert list(archived.evidence("verify", "--against", out, "--tsa-ca", certificates, "--json").json["stamped_at"])
    command = ["openssl", "ts", "-verify", "-data", out, "-in", f"{out}.tsr", "-CAfile", certificates]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    archived.add(3)
    archived.evidence("checkpoint", "-o", out)
    refused = archived.evidence("verify", "--against", out, "--tsa-ca", certificates)
    assert refused.code == 1
    assert "is not a time stamp of" in refused.err
    assert archived.evidence("checkpoint", "--tsa", authority).code == 2
    assert archived.evidence("checkpoint", "-o", out, "--tsa", "http://127.0.0.1:1/").code == 1
    assert archived.evidence("verify", "--tsa-ca", certificates).code == 3


def test_prove_writes_what_anybody_can_check(archived: Archived, tmp_path: Path) -> None:
    """Leaf, proof and original bytes fit the signed checkpoint; each with one bit flipped is refused."""
    vkey = parse_verifier_key(archived.evidence("init", "--json").json["vkey"])
    folder = tmp_path / "proof"
    assert archived.evidence("prove", "0f1e2d3c-4b5a-4978-8695-000000000002", "-o", folder).code == 0
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    report = check_run_proof(files, [vkey])
    assert report.ok
    assert report.is_signed
    assert report.leaves == 1
    assert session_path(archived.home, "0f1e2d3c-4b5a-4978-8695-000000000002").read_bytes() in files.values()
    for name in files:
        if not name.startswith(("leaf", "original")):
            continue
        data = bytearray(files[name])
        data[len(data) // 4] ^= 1
        assert not check_run_proof({**files, name: bytes(data)}, [vkey]).ok, name


def test_a_bundle_carries_its_proof(archived: Archived, tmp_path: Path, steno: Steno) -> None:
    """A bundle with a proof verifies by the key; one without, or of another run, or by another key, does not."""
    run_id = "0f1e2d3c-4b5a-4978-8695-000000000002"
    (tmp_path / "vkey").write_text(archived.evidence("init", "--json").json["vkey"])
    bundle, plain = tmp_path / "proved.zip", tmp_path / "plain.zip"
    create = ("bundle", "create", run_id, "--archive", archived.path, "--no-environment")
    assert steno(*create, "--prove", "-o", bundle).code == 0
    assert steno(*create, "-o", plain).code == 0
    assert steno("bundle", "verify", bundle, "--vkey", tmp_path / "vkey").code == 0
    ended = steno("bundle", "verify", plain, "--vkey", tmp_path / "vkey")
    assert ended.code == 1
    assert "unproved" in ended.out
    other = VerifierKey("stenograph.local/other", 1, Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    (tmp_path / "vkey").write_text(other.encode())
    assert steno("bundle", "verify", bundle, "--vkey", tmp_path / "vkey").code == 1
    assert steno(*create, "--prove", "--redact", "-o", tmp_path / "no.zip").code == 2
    with zipfile.ZipFile(bundle) as file:
        proof = {name.partition("/proof/")[2]: file.read(name) for name in file.namelist() if "/proof/" in name}
    assert session_path(archived.home, run_id).read_bytes() in proof.values()
    assert check_run_proof(proof, [], run_id).ok
    assert not check_run_proof(proof, [], "0f1e2d3c-4b5a-4978-8695-000000000001").ok


def test_export_writes_tiles_and_refuses_the_folder_of_another_log(
    archived: Archived, tmp_path: Path, steno: Steno
) -> None:
    """A folder belongs to one history."""
    archived.evidence("init")
    assert archived.evidence("export", tmp_path / "tiles").code == 0
    assert (tmp_path / "tiles" / "tile" / "0" / "000.p" / "2").stat().st_size == 64
    other = Archived(tmp_path / "other", steno)
    other.add(1)
    other.evidence("init")
    ended = other.evidence("export", tmp_path / "tiles")
    assert ended.code == 1
    assert "give another folder" in ended.err


class Witness(BaseHTTPRequestHandler):
    """A witness after the C2SP rules, for one log."""

    server: Any

    def do_POST(self) -> None:
        head, _, body = self.rfile.read(int(self.headers["Content-Length"])).partition(b"\n\n")
        first, *lines = head.decode().splitlines()
        note = parse_note(body)
        checkpoint = checkpoint_of(note)
        size, root = self.server.seen
        if int(first.removeprefix("old ")) != size:
            return self.answer(409, b"%d\n" % size)
        import base64

        proof = [base64.b64decode(line) for line in lines]
        if not is_consistent(size, root, checkpoint.size, checkpoint.root, proof):
            return self.answer(422, b"")
        self.server.seen = checkpoint.size, checkpoint.root
        key, at = self.server.key, 1_700_000_000
        public = VerifierKey("witness.example", COSIGNATURE, key.public_key().public_bytes_raw())
        value = at.to_bytes(8) + key.sign(cosigned(note.text, at))
        return self.answer(200, Signature(public.name, public.key_id, value).line.encode())

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def witness() -> Iterator[Any]:
    """A witness on a port of this machine."""
    from stenograph.merkle import EMPTY_ROOT

    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Witness)
    server.seen, server.key = (0, EMPTY_ROOT), Ed25519PrivateKey.generate()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_witness_cosigns_growth_and_refuses_another_history(archived: Archived, tmp_path: Path, witness: Any) -> None:
    """Its cosignature is kept with the checkpoint; who forgot what it saw is told; a rewritten log is refused."""
    url = f"http://127.0.0.1:{witness.server_port}"
    archived.evidence("init", "--to", url, "--to", tmp_path / "outside")
    archived.add(3)
    public = VerifierKey("witness.example", COSIGNATURE, witness.key.public_key().public_bytes_raw())
    note = parse_note((tmp_path / "outside" / "checkpoint").read_bytes())
    assert public.check(note) == 1_700_000_000
    (archived.path / "evidence" / "witnessed.json").unlink()
    assert archived.evidence("checkpoint", "-o", "-").code == 0
    witness.seen = 3, b"\x00" * 32
    assert "no checkpoint: the witness" in archived.add(4).err
    ended = archived.evidence("checkpoint", "--witness", "http://127.0.0.1:9")
    assert ended.code == 1
    assert "cannot be reached" in ended.err


def test_nothing_is_signed_that_is_not_on_the_disk(archived: Archived, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packs are synced to the disk before a checkpoint that counts them is written."""
    archived.evidence("init")
    done: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(fd: int) -> None:
        done.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        real_fsync(fd)

    def replace(source: Any, target: Any) -> None:
        done.append(f"replace {Path(target).name}")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    archived.evidence("checkpoint")
    assert done == ["000001.pack", "checkpoint.partial", "replace checkpoint"]


def test_cryptography_is_loaded_only_to_sign_and_to_check_signatures(archived: Archived) -> None:
    """Search, sync and an audit by digests alone do without it."""
    commands = [["search", "plan"], ["evidence", "verify"], ["sync", "--home", str(archived.home)]]
    for command in commands:
        script = (
            "import sys; from stenograph.cli.program import cli; "
            f"cli.main({[*command, '--archive', str(archived.path)]!r}, standalone_mode=False); "
            "assert 'cryptography' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
