"""Counters at the ends of a step's phases, and their names in a recording."""

from __future__ import annotations

BETWEEN_STEPS, EVALUATION, FORWARD, BACKWARD = "between_steps", "evaluation", "forward", "backward"
PHASES = (BETWEEN_STEPS, EVALUATION, FORWARD, BACKWARD)
"""In the order of a step. Counters without a phase are those of its end, after the optimizer."""
OPTIMIZER = "optimizer"
PHASE_COUNTERS = ("allocated_bytes", "rss_bytes")
PEAK = "allocated_peak_bytes"
NAMES_IN_PHASES = {(phase, counter): f"{phase}_{counter}" for phase in PHASES for counter in (*PHASE_COUNTERS, PEAK)}
"""By phase and counter the name of the counter at the phase's end: `forward_rss_bytes`."""
