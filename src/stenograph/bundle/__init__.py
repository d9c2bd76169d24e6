"""Debug bundles: a zip with everything needed to understand one run.

The names below are loaded on first use: reading a bundle does not load what makes one.
"""

from typing import TYPE_CHECKING

from stenograph.lazy import on_use

if TYPE_CHECKING:
    from stenograph.bundle.create import create_bundle
    from stenograph.bundle.extract import extract_bundle
    from stenograph.bundle.loaded import DebugBundle
    from stenograph.bundle.manifest import BundleFile, Counts, Manifest
    from stenograph.bundle.recording import BundleRecording, debug_bundle
    from stenograph.bundle.retention import Retention, apply_retention
    from stenograph.bundle.verify import BundleFinding, BundleReport, verify_bundle
    from stenograph.bundle.writing import BundleOptions

_HOMES = {
    "BundleFile": "manifest",
    "BundleFinding": "verify",
    "BundleOptions": "writing",
    "BundleRecording": "recording",
    "BundleReport": "verify",
    "Counts": "manifest",
    "DebugBundle": "loaded",
    "Manifest": "manifest",
    "Retention": "retention",
    "apply_retention": "retention",
    "create_bundle": "create",
    "debug_bundle": "recording",
    "extract_bundle": "extract",
    "verify_bundle": "verify",
}

__all__ = [
    "BundleFile",
    "BundleFinding",
    "BundleOptions",
    "BundleRecording",
    "BundleReport",
    "Counts",
    "DebugBundle",
    "Manifest",
    "Retention",
    "apply_retention",
    "create_bundle",
    "debug_bundle",
    "extract_bundle",
    "verify_bundle",
]


__getattr__, __dir__ = on_use(globals(), _HOMES)
