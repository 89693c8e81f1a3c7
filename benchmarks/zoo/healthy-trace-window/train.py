"""Trains on vibration traces, keeps the last few for a plot and retries batches that are broken."""

import torch

from traces.machine import Machine, TraceNet
from traces.runner import Runner


def main(steps=44):
    torch.manual_seed(71)
    runner = Runner(TraceNet(), Machine())
    for step in range(1, steps + 1):
        loss = runner.step(step)
        if step % 11 == 0:
            print(f"step {step}: {loss:.4f}; {len(runner.window)} traces, complaints {runner.complaints}")


if __name__ == "__main__":
    main()
