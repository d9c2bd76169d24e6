"""Debug bundles: a zip with everything needed to understand one run.

The names below are loaded when they are used: whoever only looks into a bundle does not wait for what makes one.
"""

from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'stenograph.bundle' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"stenograph.bundle.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES} - {"TYPE_CHECKING"})
