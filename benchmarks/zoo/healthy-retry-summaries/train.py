import torch
from retry import retry
from tides import TideNet, TideTrainer


def gauges(batch=32, length=120, seed=15):
    generator = torch.Generator().manual_seed(seed)
    time = torch.arange(length)
    while True:
        phase = 6.28 * torch.rand(batch, 1, generator=generator)
        level = torch.sin(0.5 * time + phase) + 0.4 * torch.sin(0.53 * time + 2 * phase)
        level = level + 0.6 * torch.randn(batch, length, generator=generator)
        yield level[:, :-24], level[:, -24:]


def main(steps=40):
    torch.manual_seed(15)
    trainer = TideTrainer(TideNet())
    for (past, future), step in zip(gauges(), range(steps)):
        loss = trainer.step(past, future)
        if step % 8 == 0:
            print(f"{step:2d} {loss:.4f}")
    print(len(retry.journal), "tries failed; the last:", retry.last_error, "in", retry.journal[-1].where)


if __name__ == "__main__":
    main()
