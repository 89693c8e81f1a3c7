import math

import torch
from compressor import ValveNet, ValveTrainer
from probes import Probe


def strokes(count, batch=64, samples=180, valves=8, seed=241):
    generator = torch.Generator().manual_seed(seed)
    angle = torch.linspace(0, math.tau, samples)
    effect = torch.stack([torch.exp(-((angle - k * math.tau / valves) ** 2) * 8) for k in range(valves)])
    for _ in range(count):
        faulty = (torch.rand(batch, valves, generator=generator) < 0.2).float()
        pressure = 1 - angle.cos() - 0.5 * faulty @ effect
        yield pressure + 0.05 * torch.randn(batch, samples, generator=generator), faulty


def main(probe=Probe, steps=42):
    torch.manual_seed(240)
    trainer = ValveTrainer(ValveNet(), probe)
    for number, (pressure, faulty) in enumerate(strokes(steps)):
        loss = trainer.step(pressure, faulty)
        if number % 7 == 0:
            print(f"stroke {number:2d} loss {loss:.4f} activity {trainer.activity:.3f}")


if __name__ == "__main__":
    main()
