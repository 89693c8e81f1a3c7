"""Fine-tunes a promoter binding model while sweeping gradient x input scores for two of its layers."""

import torch
import torch.nn.functional as F

from genome import BindingNet, PromoterWindows
from taps import InputTaps, RunningScores


def tune(model, windows, taps, steps=22, batch=24):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    running = RunningScores()
    for step in range(steps):
        sequence, bound = windows.batch(batch)
        loss = F.binary_cross_entropy_with_logits(model(sequence), bound)
        optimizer.zero_grad()
        loss.backward()
        running.add(taps.scores())
        optimizer.step()
        if (step + 1) % 6 == 0:
            print(f"step {step + 1}: bce {loss.item():.3f}, strongest channels {running.top('context')}")
    return running


def main():
    torch.manual_seed(5)
    model = BindingNet()
    taps = InputTaps(model, ["mix", "context"])
    try:
        running = tune(model, PromoterWindows(seed=21), taps)
    finally:
        taps.close()
    print({name: running.top(name) for name in running.mean})


if __name__ == "__main__":
    main()
