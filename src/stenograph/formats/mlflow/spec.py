"""The description of this format."""

from stenograph.fold.agent_tables import ENDS, Agent, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Layout
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="mlflow",
    what="traces of MLflow (Trace.to_dict), one run for each",
    versions="MLflow 3.17.2",
    agent=Agent("mlflow", "MLflow"),
    kind="document",
    layout=Layout(sessions=("*.json",), runs=later("stenograph.formats.mlflow.detection", "traces_in")),
    documents=True,
    detect=later("stenograph.formats.mlflow.detection", "detect"),
    identify=later("stenograph.formats.mlflow.detection", "identify"),
    open=later("stenograph.formats.mlflow.format", "MlflowFormat"),
    turns=Turns(marks={"agent_ended": ENDS}),
    tools=HOST_TOOLS,
    tokens=("call",),
)
