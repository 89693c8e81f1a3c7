import torch
from trainer import Trainer


def main(trainer, steps=40):
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        x = torch.randn(64, 64, generator=generator)
        values = trainer.step(x, x[:, :30].argmax(1))
        if step % 10 == 0:
            print(step, values)


if __name__ == "__main__":
    torch.manual_seed(0)
    main(Trainer())
