"""mlflow: traces of MLflow (`Trace.to_dict()`), one run for each."""

from stenograph.formats.mlflow.spec import SPEC

__all__ = ["SPEC"]
