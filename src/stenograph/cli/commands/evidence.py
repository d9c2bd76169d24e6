"""`steno evidence`: sign what an archive keeps, and check that it was not changed."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from stenograph.archive.store.home import Home, home_of
from stenograph.cli.completion import RUN
from stenograph.cli.options import archive_option, json_option, print_json, say, write_text
from stenograph.errors import InvalidEvidence, StenographError
from stenograph.evidence.anchor import Anchor, load_anchor
from stenograph.evidence.audit import AnchorVerdict, Verdict, audit
from stenograph.evidence.keys import load_signer, load_verifier_key
from stenograph.evidence.note import VerifierKey
from stenograph.evidence.places import deliver, sign_and_deliver, write_place
from stenograph.evidence.run_proof import proof_of_run
from stenograph.evidence.settings import EvidenceSettings, default_key, is_initialised, read_settings
from stenograph.evidence.signing import SignedLog, initialise, origin_of_archive, sign
from stenograph.evidence.ssh import ssh_sign
from stenograph.evidence.tiles import write_file
from stenograph.evidence.timestamp import check_stamp, stamp, stamp_of
from stenograph.render.control_chars import on_one_line
from stenograph.runs.target import find_archived

_URLS = ("http://", "https://")
_UNKNOWABLE = "unknown: what was never kept cannot be checked"
_NOT_ANCHORED = "consistent with itself, not anchored: give a checkpoint that is kept elsewhere (--against)"

to_option = click.option(
    "--to", "to", multiple=True, metavar="DIR|URL", help="A folder, git repository or witness; may be repeated."
)


@click.group(
    "evidence",
    epilog="Example: steno evidence init --to ~/checkpoints",
)
def command() -> None:
    """Sign what the archive keeps, and check that it was not changed.

    A checkpoint is a signed note with the number of frames in the archive and a hash over them. Keep it where the owner
    of the archive cannot change it: it shows later that nothing before it was changed or removed.
    """


@command.command("init", epilog="Example: steno evidence init --to ~/checkpoints")
@click.option("--key", metavar="FILE", help="An Ed25519 key, PEM or OpenSSH; created if it does not exist.")
@to_option
@archive_option
@json_option
def init(key: str | None, to: tuple[str, ...], archive_dir: str | None, as_json: bool) -> None:
    """Sign the archive from now on after each sync, and print the key that verifies it.

    The key is outside the archive, beside config.toml unless you name another file. Run it again to change the key or
    the places; after a change, the old and the new key both sign the next checkpoint.
    """
    home = home_of(archive_dir)
    settings = EvidenceSettings(
        key=str(Path(key).expanduser().absolute() if key else default_key().absolute()),
        to=tuple(str(each) for each in _folders(to)),
        witnesses=_witnesses(to),
    )
    signed, vkey = initialise(home, settings)
    signed, problems = deliver(home, signed, settings)
    if as_json:
        keys = {"key": settings.key, "vkey": vkey, "to": settings.to, "witnesses": settings.witnesses}
        print_json({**keys, **_as_json(signed), "problems": [str(each) for each in problems]})
    else:
        write_text(f"key          {on_one_line(settings.key)} (keep it safe: its holder can sign)\n")
        write_text(f"verifier key {vkey}\n")
        write_text(f"checkpoint   {signed.checkpoint.size} leaves\n")
    _end(problems)


@command.command("checkpoint", epilog="Example: steno evidence checkpoint -o today.checkpoint")
@click.option("-o", "--output", metavar="FILE", help="Also write the checkpoint to a file; - is standard output.")
@to_option
@click.option("--witness", "witnesses", multiple=True, metavar="URL", help="A witness to cosign it; may be repeated.")
@click.option("--ssh-sign", "ssh_key", metavar="KEY", help="Also sign FILE of -o with ssh-keygen -Y, in FILE.sig.")
@click.option("--tsa", metavar="URL", help="Have this authority time-stamp FILE of -o (RFC 3161), in FILE.tsr.")
@archive_option
@json_option
def checkpoint(
    output: str | None,
    to: tuple[str, ...],
    witnesses: tuple[str, ...],
    ssh_key: str | None,
    tsa: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Sign the archive as it is now, and write the checkpoint to every place."""
    if ssh_key is not None and output in (None, "-"):
        raise click.UsageError("--ssh-sign signs a file; give -o FILE")
    if tsa is not None and output in (None, "-"):
        raise click.UsageError("--tsa stamps a file; give -o FILE")
    signed, problems = sign_and_deliver(home_of(archive_dir), _folders(to), (*witnesses, *_witnesses(to)))
    if output == "-":
        write_text(signed.note.encode().decode())
    elif output is not None:
        write_file(Path(output), signed.note.encode())
    if ssh_key is not None and output is not None:
        ssh_sign(Path(ssh_key), Path(output))
    if tsa is not None and output is not None:
        stamp(tsa, Path(output))
    if as_json:
        print_json({**_as_json(signed), "problems": [str(each) for each in problems]})
    elif output != "-":
        write_text(f"checkpoint of {signed.checkpoint.size} leaves, root {signed.checkpoint.root.hex()}\n")
    _end(problems)


@command.command("verify", epilog="Example: steno evidence verify --against ~/checkpoints")
@click.option(
    "--against",
    multiple=True,
    metavar="CHECKPOINT",
    help="A checkpoint kept elsewhere, or a folder with one; may be repeated.  [default: the places of init]",
)
@click.option("--vkey", "vkeys", multiple=True, metavar="FILE", help="A verifier key.  [default: that of our own key]")
@click.option(
    "--tsa-ca",
    metavar="FILE",
    help="Also check the time stamps (CHECKPOINT.tsr) with these certificates (PEM) of the authority.",
)
@click.option("--quick", is_flag=True, help="Check only headers, not the content of frames.")
@archive_option
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    against: tuple[str, ...],
    vkeys: tuple[str, ...],
    tsa_ca: str | None,
    quick: bool,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Check what the archive keeps, and report three things separately.

    Integrity: every frame is whole and its content matches its header. Append-only: the archive still begins with what
    each checkpoint kept elsewhere covers. Completeness: what was never kept cannot be checked. Works without init, too.
    Exit code 1 when something does not match, 3 when something cannot be read.
    """
    home = home_of(archive_dir)
    origin = origin_of_archive(home)
    anchors = [load_anchor(Path(each)) for each in against] or _known_anchors(home)
    keys = [load_verifier_key(Path(each)) for each in vkeys] or _own_keys(home, origin, anchors)
    verdict = audit(home.kept, anchors, keys, origin=origin, quick=quick)
    stamps = {} if tsa_ca is None else _stamps(anchors, Path(tsa_ca))
    if as_json:
        parts = {"integrity_ok": verdict.is_whole, "is_anchored": verdict.is_anchored, "completeness": _UNKNOWABLE}
        print_json({**parts, **msgspec.to_builtins(verdict), "stamped_at": stamps})
    else:
        write_text(_text(verdict, quick=quick))
        write_text(
            "".join(on_one_line(f"time stamp    ok: {path} existed at {at}") + "\n" for path, at in stamps.items())
        )
    ctx.exit(0 if verdict.is_good else 1)


def _stamps(anchors: list[Anchor], authority: Path) -> dict[str, str]:
    """When the authority saw each checkpoint. Raises `InvalidEvidence` if none has a stamp, or one does not match."""
    replies = {each.file: stamp_of(each.file) for each in anchors}
    found = {file: reply for file, reply in replies.items() if reply.exists()}
    if not found:
        raise InvalidEvidence("no checkpoint has a time stamp beside it (CHECKPOINT.tsr); see --tsa", "")
    return {str(file): check_stamp(file, reply, authority) for file, reply in found.items()}


def _known_anchors(home: Home) -> list[Anchor]:
    """The checkpoints that exist in the places given to init."""
    if not is_initialised(home):
        return []
    return [load_anchor(place) for place in read_settings(home).places() if (place / "checkpoint").exists()]


def _own_keys(home: Home, origin: str, anchors: list[Anchor]) -> list[VerifierKey]:
    """Our own public key, from outside the archive: the copy inside proves nothing."""
    key = Path(read_settings(home).key) if is_initialised(home) else None
    return [load_signer(key, origin).verifier_key] if anchors and key is not None and key.exists() else []


def _text(verdict: Verdict, *, quick: bool) -> str:
    checked = "headers only" if quick else f"{verdict.bytes_checked:,} bytes match their headers"
    removed = f", {verdict.forgotten} removed on purpose" if verdict.forgotten else ""
    state = "ok" if verdict.is_whole else f"{len(verdict.integrity)} PROBLEMS"
    lines = [f"integrity     {state}: {verdict.frames:,} frames, {checked}{removed}"]
    lines += [f"  ✗ {each.kind}: {each.message}" for each in verdict.integrity]
    lines += [f"  · {each.message}" for each in verdict.removals]
    lines += [line for each in verdict.anchors for line in _anchor(each)] or [f"append-only   {_NOT_ANCHORED}"]
    lines.append(f"completeness  {_UNKNOWABLE}")
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def _anchor(verdict: AnchorVerdict) -> list[str]:
    signed = {True: "signed", False: "NOT SIGNED by a given key", None: "signature not checked (--vkey)"}
    state = "ok" if verdict.is_consistent and verdict.is_signed is not False else "DOES NOT MATCH"
    line = f"append-only   {state}: {verdict.size:,} leaves by {verdict.path}, {signed[verdict.is_signed]}"
    return [line, *(f"  ✗ {each.kind}: {each.message}" for each in verdict.findings)]


@command.command("prove", epilog="Example: steno evidence prove 550e84 -o proof")
@click.argument("target", type=RUN, metavar="RUN")
@click.option("-o", "--output", metavar="DIR", required=True, help="A folder for the proof.")
@archive_option
@json_option
def prove(target: str, output: str, archive_dir: str | None, as_json: bool) -> None:
    """Write a proof that the bytes of a run are in the signed log: checkpoint, leaves, proofs and original bytes.

    With the verifier key, any program that knows the C2SP formats can check it without the archive.
    """
    home = home_of(archive_dir)
    kind = find_archived(target, home.path)
    run_id = kind.run_id
    kind.close()
    written = []
    for name, data in proof_of_run(sign(home), home.kept, run_id):
        write_file(Path(output) / name, data)
        written.append(str(Path(output) / name))
    if as_json:
        print_json({"run_id": run_id, "files": written})
    else:
        write_text("".join(f"{on_one_line(each)}\n" for each in written))


@command.command("export", epilog="Example: steno evidence export /srv/log")
@click.argument("folder", metavar="DIR")
@archive_option
@json_option
def export(folder: str, archive_dir: str | None, as_json: bool) -> None:
    """Write the log as static files (C2SP tiles), for auditors who fetch it from a web server.

    They hold the headers of frames: paths, ids and digests, no content.
    """
    signed = sign(home_of(archive_dir))
    count = write_place(Path(folder), signed)
    if as_json:
        print_json({**_as_json(signed), "path": folder, "files": count})
    else:
        write_text(f"{on_one_line(folder)}: {signed.checkpoint.size} leaves, {count} files written\n")


def _as_json(signed: SignedLog) -> dict[str, object]:
    point = signed.checkpoint
    return {"origin": point.origin, "size": point.size, "root": point.root.hex(), "note": signed.note.encode().decode()}


def _end(problems: list[StenographError]) -> None:
    for each in problems:
        say(str(each))
    if problems:
        raise click.exceptions.Exit(max(each.exit_code for each in problems))


def _folders(to: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(Path(each).expanduser().absolute() for each in to if not each.startswith(_URLS))


def _witnesses(to: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in to if each.startswith(_URLS))
