"""Where the transcripts are that `make corpus` compares with: `make corpus SHARED=DIR`, else beside the project."""

from __future__ import annotations

import os
from pathlib import Path

REPO = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHARED") or REPO.parent / "shared")
