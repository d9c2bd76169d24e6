"""A second, detached signature by an OpenSSH key, also one that an agent or a token holds."""

from __future__ import annotations

import subprocess
from pathlib import Path

from stenograph.errors import StoreError

NAMESPACE = "stenograph-checkpoint@v1"


def ssh_sign(key: Path, file: Path) -> Path:
    """Sign a file with `ssh-keygen -Y`: the signature is in `FILE.sig`. Raises `StoreError`."""
    signature = file.with_name(f"{file.name}.sig")
    signature.unlink(missing_ok=True)  # ssh-keygen asks before it overwrites one
    command = ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise StoreError(f"cannot run ssh-keygen: {error.strerror}; install OpenSSH", str(file)) from error
    if done.returncode or not signature.exists():
        reason = done.stderr.strip().partition("\n")[0]
        raise StoreError(f"ssh-keygen did not sign {file}: {reason}; check the key {key}", str(file))
    return signature
