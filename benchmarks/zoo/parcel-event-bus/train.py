import torch
from bus import EventBus
from sorting import BeltTrainer, WorstPixel


def belt(batches, batch=16, size=40):
    generator = torch.Generator().manual_seed(131)
    rows = torch.arange(size)
    for _ in range(batches):
        corner = torch.randint(2, 12, (batch, 2, 1), generator=generator)
        extent = torch.randint(8, 26, (batch, 2, 1), generator=generator)
        inside = (rows >= corner) & (rows < corner + extent)
        height = torch.rand(batch, 1, 1, generator=generator) + 0.2
        depth = height * (inside[:, 0, :, None] & inside[:, 1, None, :])
        yield depth[:, None], depth.mean((1, 2)) * 3


def main(bus_class=EventBus, batches=48):
    torch.manual_seed(130)
    bus = bus_class()
    stop = bus.subscribe("batch.fitted", WorstPixel())
    trainer = BeltTrainer(bus)
    for depth, weight in belt(batches):
        trainer.fit_batch(depth, weight)
    stop()


if __name__ == "__main__":
    main()
