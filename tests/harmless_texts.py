"""Texts without secrets: code of the standard library, digests, UUIDs and lock files as package managers write them."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from base64 import b64encode
from pathlib import Path

LINES = 30
_FOLDERS = ("asyncio", "email", "http", "json", "logging", "urllib", "xml", "concurrent", "importlib", "unittest", "")


def code_snippets(count: int) -> list[str]:
    """Snippets of thirty lines from the standard library, the same ones for the same Python."""
    snippets: list[str] = []
    library = Path(os.__file__).parent
    for folder in _FOLDERS:
        for path in sorted((library / folder).glob("*.py")):
            lines = path.read_text("utf-8", "replace").splitlines()
            snippets += ["\n".join(lines[start : start + LINES]) for start in range(0, len(lines), LINES)]
    step = max(1, len(snippets) // count)
    return snippets[::step][:count]


def digests(count: int) -> list[str]:
    """Lines as tools print them: digests of every length, commits, UUIDs, integrity hashes, etags, image ids, ids."""
    lines: list[str] = []
    for number in range(count):
        data = str(number).encode()
        sha1, sha256, sha512, md5 = (hashlib.new(name, data) for name in ("sha1", "sha256", "sha512", "md5"))
        name = str(uuid.uuid5(uuid.NAMESPACE_DNS, str(number)))
        lines += [
            f"commit {sha1.hexdigest()}",
            f"{sha1.hexdigest()[:7]}..{sha1.hexdigest()[7:14]}  main -> main",
            f"index {sha1.hexdigest()[:10]}..{sha1.hexdigest()[10:20]} 100644",
            f"{sha256.hexdigest()}  dist/package-1.{number}.tar.gz",
            f"MD5 (file{number}.bin) = {md5.hexdigest()}",
            f'ETag: "{md5.hexdigest()}"',
            f"cache-key: {md5.hexdigest()}",
            f"key: {sha256.hexdigest()}",
            f"cacheKey={sha1.hexdigest()}",
            f'"id": "{name}"',
            f"request_id={name} status=200",
            f"x-request-id: {name}",
            f"sha512-{b64encode(sha512.digest()).decode()}",
            f'integrity="sha384-{b64encode(sha512.digest()[:48]).decode()}"',
            f"FROM python:3.12@sha256:{sha256.hexdigest()}",
            f"docker.io/library/redis@sha256:{sha256.hexdigest()}",
            f"h1:{b64encode(sha256.digest()).decode()}",
            f"run {name} finished, trace {md5.hexdigest()}",
            f"/nix/store/{b64encode(sha256.digest()).decode().lower()[:32].replace('/', 'a').replace('+', 'b')}-hello",
            f"toolu_01{b64encode(sha1.digest()).decode()[:22].replace('/', 'a').replace('+', 'b')}",
        ]
    return lines


def lock_files(count: int) -> list[str]:
    """Parts of lock files of npm, yarn, pnpm, Cargo, Poetry, Pipenv, Bundler, Composer, Go and Terraform."""
    parts: list[str] = []
    for number in range(count):
        digest = hashlib.sha512(f"lock {number}".encode()).digest()
        sha256, sha1 = hashlib.sha256(digest).hexdigest(), hashlib.sha1(digest).hexdigest()
        integrity = "sha512-" + b64encode(digest).decode()
        name = ("cookie", "token-types", "js-tokens", "keyv", "passport", "secret-stack", "oauth-sign", "left-pad")[
            number % 8
        ]
        package = {
            "version": f"1.{number}.0",
            "resolved": f"https://registry/{name}-1.{number}.0.tgz",
            "integrity": integrity,
        }
        parts += [
            json.dumps({"packages": {f"node_modules/{name}": package}}, indent=2),
            f'{name}@^1.0.0:\n  version "1.{number}.0"\n  resolved "https://registry/{name}.tgz#{sha1}"\n'
            f"  integrity {integrity}\n",
            f"  /{name}@1.{number}.0:\n    resolution: {{integrity: {integrity}}}\n    engines: {{node: '>=12'}}\n",
            f'[[package]]\nname = "{name}"\nversion = "1.{number}.0"\nchecksum = "{sha256}"\n',
            f'{name} = [\n    {{file = "{name}-1.{number}.0.tar.gz", hash = "sha256:{sha256}"}},\n]\n',
            json.dumps({name: {"hashes": [f"sha256:{sha256}"], "version": f"==1.{number}"}}, indent=4),
            f"    {name} (1.{number}.0) sha256={sha256}\n",
            json.dumps(
                {"name": name, "dist": {"type": "zip", "reference": sha1, "shasum": sha1}, "content-hash": sha1[:32]}
            ),
            f"github.com/acme/{name} v1.{number}.0 h1:{b64encode(digest[:32]).decode()}\n",
            f'  hashes = [\n    "h1:{b64encode(digest[:32]).decode()}",\n    "zh:{sha256}",\n  ]\n',
            f"{name}==1.{number}.0 \\\n    --hash=sha256:{sha256} \\\n    --hash=sha256:{sha256[::-1]}\n",
        ]
    return parts
