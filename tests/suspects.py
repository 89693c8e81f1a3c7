"""Suspects for the tests of rules and diagnosis, made in one line each; `finding` is what a rule makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tenure.model.finding import CutReference, Finding, Holder, Remedy
from tenure.model.source import SourceLocation
from tenure.model.suspect import HoldingReference, Hop, Series, Suspect

MIB = 1 << 20
TRAIN = "/projects/asr/train.py"
HISTORY = HoldingReference(
    kind="local",
    name="history",
    expression="history[*]",
    scope_file=TRAIN,
    scope_function="fit",
    scope_line=20,
    element=True,
    container_type="list",
    sites=(SourceLocation(TRAIN, 24, "fit"),),
)
ROOT = "local variable `history` in fit (train.py:20)"
HOP = Hop("LOCAL", "history", "FRAME", "frame", "fit", "OBJECT", "list", file=TRAIN, line=20)


def series(*num_bytes: int, moment: str = "step-end", graph_nodes: tuple[int, ...] = ()) -> Series:
    """Steps 1, 2, 3, ... with these bytes; one object each step."""
    steps = tuple(range(1, len(num_bytes) + 1))
    return Series(moment, steps, num_bytes, steps, graph_nodes or (0,) * len(num_bytes))


def suspect(**changes: Any) -> Suspect:
    """A list `history` in train.py:24 that gains a MiB per step, of which nothing further is known."""
    holder = changes.get("holder", HISTORY)
    values: dict[str, Any] = {
        "key": 7,
        "symptom": "growth",
        "path": (HOP,),
        "path_text": (ROOT, "[3]"),
        "holder": holder,
        "cut": (holder,),
        "retained_bytes": 3 * MIB,
        "num_objects": 3,
        "num_graph_nodes": 0,
        "device": "cpu",
        "bytes_by_role": {"OTHER": 3 * MIB},
        "first_step": 1,
        "last_step": 3,
        "series": series(MIB, 2 * MIB, 3 * MIB),
        "growth_bytes_per_step": float(MIB),
        "growth_objects_per_step": 1.0,
        "fingerprint": "f1",
    }
    return Suspect(**{**values, **changes})


def carried(**changes: Any) -> Suspect:
    """Three MiB under the same name that are there at every forward, no more and no less."""
    values: dict[str, Any] = {
        "symptom": "peak",
        "series": series(3 * MIB, 3 * MIB, 3 * MIB, moment="forward-entry"),
        "growth_bytes_per_step": None,
        "growth_objects_per_step": None,
    }
    return suspect(**{**values, **changes})


def finding(remedy: str, **changes: Any) -> Finding:
    """What a rule makes of `suspect()`: everything but `rule`, `name` and `message`, which `changes` must give."""
    values: dict[str, Any] = {
        "symptom": "growth",
        "confidence": "certain",
        "origin": "yours",
        "holder": Holder("local", "history", "history[*]", TRAIN, 24, "fit"),
        "path": (ROOT, "[3]"),
        "cut": (CutReference("history", TRAIN, 24),),
        "retained_bytes": 3 * MIB,
        "num_objects": 3,
        "device": "cpu",
        "first_step": 1,
        "last_step": 3,
        "fingerprint": "f1",
        "growth_bytes_per_step": float(MIB),
        "growth_objects_per_step": 1.0,
        "remedies": (Remedy(remedy),),
        "evidence": (path_row(), series_row(MIB, 2 * MIB, 3 * MIB), roles_row()),
    }
    return Finding(**{**values, **changes})


def carried_finding(remedy: str, **changes: Any) -> Finding:
    """The same of `carried()`."""
    values: dict[str, Any] = {
        "symptom": "peak",
        "growth_bytes_per_step": None,
        "growth_objects_per_step": None,
        "evidence": (path_row(), series_row(3 * MIB, 3 * MIB, 3 * MIB, moment="forward-entry"), roles_row()),
    }
    return finding(remedy, **{**values, **changes})


def path_row(*path: str) -> dict[str, Any]:
    references = list(path or (ROOT, "[3]"))
    start = references.index(".grad_fn") if ".grad_fn" in references else None
    return {"kind": "path", "references": references, "targets": [], "suspect_from": start}


def series_row(*num_bytes: int, moment: str = "step-end", graph_nodes: tuple[int, ...] = ()) -> dict[str, Any]:
    steps = list(range(1, len(num_bytes) + 1))
    return {
        "kind": "series",
        "moment": moment,
        "steps": steps,
        "bytes": list(num_bytes),
        "objects": steps,
        "graph_nodes": list(graph_nodes or (0,) * len(num_bytes)),
    }


def roles_row(**bytes_by_role: int) -> dict[str, Any]:
    return {"kind": "roles", "bytes_by_role": bytes_by_role or {"OTHER": 3 * MIB}}


ON_CTX = HoldingReference(
    kind="attribute",
    name="y",
    expression="ctx.y",
    owner_type="SoftplusBackward",
    sites=(SourceLocation(TRAIN, 9, "Softplus.forward"),),
)


def hop(kind: str, label: str, source: str, target: str, **changes: Any) -> Hop:
    """One reference; `source` and `target` are types, of plain objects unless `changes` say otherwise."""
    values: dict[str, Any] = {"source_kind": "OBJECT", "source_name": "", "target_kind": "OBJECT", **changes}
    return Hop(kind=kind, label=label, source_type=source, target_type=target, **values)


CACHED = hop("CACHED", "", "functools._lru_cache_wrapper", "torch.Tensor", source_name="Features.lookup")
TRACEBACK = hop("ATTRIBUTE", "__traceback__", "ValueError", "traceback")
SUSPENDED = hop("LOCAL", "states", "generator", "torch.Tensor", source_name="Server.stream", target_kind="TENSOR")
IN_OPTIMIZER = hop("ATTRIBUTE", "state", "torch.optim.adamw.AdamW", "collections.defaultdict")
GRADIENT = hop("GRAD", "grad", "Parameter", "torch.Tensor", source_kind="TENSOR", target_kind="TENSOR")
ITS_GRAPH = hop("GRAD_FN", "", "torch.Tensor", "MulBackward0", source_kind="TENSOR", target_kind="AUTOGRAD")
HOOKS = replace(HISTORY, kind="hook", name="_forward_hooks", expression="model._forward_hooks[*]")
MASKS = replace(HISTORY, kind="attribute", name="masks", expression="model.masks[*]", container_type="dict")
USAGE = replace(HISTORY, kind="attribute", name="usage", expression="self.usage", element=False, container_type="")

ENCODER = replace(
    HISTORY, kind="attribute", name="encoder", expression="self.encoder", element=False, container_type=""
)
IDLE = {"module": "models.Encoder", "last_called_step": 7, "windows_called": 6, "windows_idle": 3, "doubt": ""}
SAMPLES = replace(ENCODER, name="samples", expression="loader.dataset.samples")
COPIED = {"copied_after_fork": 3 * MIB, "workers_read": 2, "elements": 60_000, "element_type": "dict"}
NATIVE = HoldingReference(kind="unknown", name="native memory", expression="native memory")
CONVOLUTION = {"name": "aten.convolution", "calls": 6, "phases": ["forward"]}
LIBTORCH: dict[str, Any] = {
    "torch": "2.13.0+cpu",
    "environment": {},
    "devices": ["cpu"],
    "operators": [{**CONVOLUTION, "file": TRAIN, "line": 14, "function": "Tagger.forward"}],
    "shapes_vary": True,
    "keeps_pace": True,
    "is_short": False,
    "beside_growth": False,
}
LEFT = {"gradients_of": "models.Encoder", "parameters_with_gradient": 4}

SPECIMENS: dict[str, Suspect] = {
    "TN101": suspect(through_graph=True, num_graph_nodes=12),
    "TN104": carried(path=(HOP, GRADIENT, ITS_GRAPH)),
    "TN105": suspect(holder=USAGE, through_graph=True, facts={"kept_shape": "[64, 256]"}),
    "TN107": suspect(through_graph=True, facts={"kept_shape": "[64, 64]"}),
    "TN202": suspect(),
    "TN203": suspect(holder=MASKS, facts={"keys": ["256", "293"], "keys_count_up": False}),
    "TN204": suspect(pinned_bytes=2 * MIB),
    "TN205": suspect(path=(HOP, CACHED), holder=replace(HISTORY, kind="cache", name="lookup")),
    "TN302": suspect(path=(HOP, TRACEBACK), through_graph=True),
    "TN303": suspect(holder=HOOKS),
    "TN305": suspect(path=(HOP, SUSPENDED)),
    "TN403": carried(symptom="survivor", holder=ENCODER, facts=IDLE),
    "TN405": carried(symptom="survivor", holder=ENCODER, bytes_by_role={"GRADIENT": 3 * MIB}, facts=LEFT),
    "TN404": carried(symptom="survivor", path=(HOP, IN_OPTIMIZER), facts={"released": "head"}),
    "TN102": carried(bytes_by_role={"ACTIVATION": 3 * MIB}),
    "TN103": carried(holder=ON_CTX, through_graph=True, facts={"ctx_attribute": "y"}),
    "TN201": suspect(scalars=True),
    "TN301": suspect(symptom="cycle", cyclic=True),
    "TN401": carried(symptom="survivor", bytes_by_role={"PARAMETER": 3 * MIB}, facts={"released": "encoder"}),
    "TN402": suspect(copies_of="torch.nn.modules.linear.Linear", bytes_by_role={"PARAMETER": 3 * MIB}),
    "TN601": suspect(device="host", facts={"host_type": "bytes"}),
    "TN602": suspect(symptom="host", device="host", holder=SAMPLES, cut=(), facts=COPIED),
    "TN603": suspect(
        symptom="host", device="host", path=(), path_text=(), holder=NATIVE, facts={"native_growth": LIBTORCH}
    ),
    "TN900": suspect(holder=USAGE),
}
"""For each rule a suspect that it, and no rule tried before it, explains."""
