"""Contract suites for packages that extend Stenograph. They raise `AssertionError` and need no test framework."""

from stenograph.testing.formats import LAWS, check_format

__all__ = ["LAWS", "check_format"]
