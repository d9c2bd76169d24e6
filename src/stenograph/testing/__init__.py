"""For tests of packages that use or extend Stenograph: contract suites, and runs in a few words.

They raise `AssertionError` and need no test framework.
"""

from stenograph.testing.exporters import EXPORTER_LAWS, check_exporter
from stenograph.testing.formats import LAWS, check_format
from stenograph.testing.run_factory import answer, call, make_run

__all__ = ["EXPORTER_LAWS", "LAWS", "answer", "call", "check_exporter", "check_format", "make_run"]
