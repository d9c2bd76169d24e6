"""For tests of packages that use or extend Stenograph: runs in a few words. Needs no test framework."""

from stenograph.testing.run_factory import answer, call, make_run

__all__ = ["answer", "call", "make_run"]
