"""Traces of MLflow as events: each is passed to the reader of OTLP as a request."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stenograph.formats.base import Context
from stenograph.formats.mlflow.detection import is_trace
from stenograph.formats.mlflow.request import request_of
from stenograph.formats.otlp.format import OtlpFormat
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict


class MlflowFormat(ImportFormat):
    """One trace per record."""

    name = "mlflow"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._spans = OtlpFormat(replace(context, adapter=context.adapter or self.name, keep_raw=False))

    def _record(self, record: dict[str, Any]) -> None:
        if not is_trace(record):
            return
        self._place(a_dict(record["info"]).get("request_time"))
        self._note("trace", None, record["info"])
        self._spans.feed_object(request_of(record))

    def _finish(self) -> None:
        super()._finish()
        self._out += self._spans.finish()
        self.report.failed += self._spans.report.failed
        self._spans.report.failed = 0
