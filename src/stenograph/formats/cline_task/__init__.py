"""cline_task: task folders of Cline before version 4 and of Roo Code."""

from stenograph.formats.cline_task.spec import SPEC

__all__ = ["SPEC"]
