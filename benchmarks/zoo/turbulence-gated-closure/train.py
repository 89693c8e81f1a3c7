import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from closure import FluxBlock, SubgridClosure
from housekeeping import GarbageSchedule


@dataclass
class JobConfig:
    steps: int = 48
    lines: int = 96
    cells: int = 128
    lr: float = 1e-3
    warmup: int = 8
    gc_every: int = 1000


def velocity_lines(config, seed=17):
    """Random superpositions of waves, and the stress of what a box filter takes away."""
    generator = torch.Generator().manual_seed(seed)
    where = torch.linspace(0, math.tau, config.cells)
    while True:
        waves = torch.randint(1, 20, (config.lines, 6), generator=generator)
        phase = torch.rand(config.lines, 6, generator=generator) * math.tau
        full = torch.sin(waves[..., None] * where + phase[..., None]).div(waves[..., None]).sum(1)
        smooth = F.avg_pool1d(full[:, None], 5, 1, 2).squeeze(1)
        yield smooth, F.avg_pool1d(full[:, None].square(), 5, 1, 2).squeeze(1) - smooth.square()


def train_step(model, optimizer, scheduler, batch):
    smooth, stress = batch
    optimizer.zero_grad()
    loss = F.mse_loss(model(smooth), stress)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    return loss.item()


def main(operator=None):
    config = JobConfig()
    torch.manual_seed(16)
    if operator is not None:
        FluxBlock.operator = operator
    model = SubgridClosure(config.cells)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / config.warmup))
    garbage = GarbageSchedule(config.gc_every)
    data = velocity_lines(config)
    for step in range(1, config.steps + 1):
        garbage.run(step)
        loss = train_step(model, optimizer, scheduler, next(data))
        if step % 12 == 0:
            print(f"step {step:3d} loss {loss:.5f} lr {scheduler.get_last_lr()[0]:.1e}")


if __name__ == "__main__":
    main()
