"""continue_session: the sessions of Continue, of its terminal program and its editor extensions."""

from stenograph.formats.continue_session.spec import SPEC

__all__ = ["SPEC"]
