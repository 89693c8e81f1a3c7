"""Findings for the report's tests, made in one line each."""

from __future__ import annotations

from typing import Any

from tenure.model.finding import CutReference, Diagnosis, Edit, Finding, Holder, Remedy

TRAINER = "/projects/speech/egs/zipformer/trainer.py"


def held_graph(**changes: Any) -> Finding:
    """A graph held over the next forward, with everything that a finding can carry."""
    values: dict[str, Any] = {
        "rule": "TN102",
        "name": "graph-held-over-forward",
        "symptom": "peak",
        "confidence": "certain",
        "origin": "yours",
        "message": "`retval` and `loss` still hold step N's graph while step N+1's forward runs.",
        "holder": Holder("local", "retval", "retval['loss']", TRAINER, 614, "Trainer.train_one_epoch"),
        "path": (
            f"local variable `retval` in Trainer.train_one_epoch ({TRAINER}:598)",
            "['loss']",
            ".grad_fn",
            ".grads",
        ),
        "cut": (CutReference("retval", TRAINER, 614), CutReference("loss", None, None)),
        "retained_bytes": 2018508800,
        "num_objects": 1,
        "device": "cuda:0",
        "first_step": 2,
        "last_step": 30,
        "fingerprint": "a1b2",
        "peak_bytes": 8171290624,
        "peak_drop_bytes": 1707081728,
        "peak_basis": "replayed",
        "allocation": {"file": "loss.py", "line": 88, "function": "forward"},
        "remedies": (Remedy("retval = None after unpacking", (Edit("trainer.py", 616, "", "        retval = None"),)),),
        "evidence": (
            {
                "kind": "path",
                "targets": [
                    "Tensor [] float32",
                    "TransducerLossBackward",
                    "Tensor [32, 386, 81, 500] float32, 1.86 GiB",
                ],
                "suspect_from": 2,
            },
        ),
    }
    return Finding(**{**values, **changes})


def kept_loss(**changes: Any) -> Finding:
    """Losses in a list, growing; only what every finding must carry."""
    values: dict[str, Any] = {
        "rule": "TN101",
        "name": "loss-kept-with-graph",
        "symptom": "growth",
        "confidence": "likely",
        "origin": "yours",
        "message": "`history` keeps the autograd graph of every step.",
        "holder": Holder("container", "history", "history[*]", "train.py", 48, "fit"),
        "path": ("global variable `history` (train.py:12)", "[239]", ".grad_fn"),
        "cut": (CutReference("history", "train.py", 48),),
        "retained_bytes": 2013265920,
        "num_objects": 240,
        "device": "cpu",
        "first_step": 12,
        "last_step": 252,
        "fingerprint": "c3d4",
        "growth_bytes_per_step": 8388608.0,
        "peak_bytes": None,
        "remedies": (Remedy("history.append(loss.item())"),),
    }
    return Finding(**{**values, **changes})


def diagnosis(*findings: Finding, **changes: Any) -> Diagnosis:
    """A diagnosis of 30 steps and 12 censuses with these findings."""
    values: dict[str, Any] = {"recording": "run", "steps": 30, "findings": findings, "censuses": 12}
    return Diagnosis(**{**values, **changes})
