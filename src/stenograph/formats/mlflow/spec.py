"""The description of this format."""

from stenograph.fold.agent_tables import ENDS, Agent, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.layout import Layout
from stenograph.formats.mlflow.detection import detect, identify, traces_in
from stenograph.formats.otlp.transcript import ENDED
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="mlflow",
    what="traces of MLflow (Trace.to_dict), one run for each",
    versions="MLflow 3.17.2",
    agent=Agent("mlflow", "MLflow"),
    kind="document",
    layout=Layout(sessions=("*.json",), runs=traces_in),
    documents=True,
    detect=detect,
    identify=identify,
    open=later("stenograph.formats.mlflow.format", "MlflowFormat"),
    turns=Turns(marks={ENDED: ENDS}),
    tools=HOST_TOOLS,
    tokens=("call",),
)
