import torch
from meta import MetaTrainer
from torch import nn


def tasks(count):
    for _ in range(count):
        centres = torch.randn(5, 40)
        y = torch.arange(5).repeat(6)
        yield centres[y] + 0.5 * torch.randn(30, 40), y


def main(trainer_type=MetaTrainer):
    torch.manual_seed(0)
    trainer = trainer_type(nn.Sequential(nn.Linear(40, 100), nn.ReLU(), nn.Linear(100, 5)))
    for task in tasks(30):
        trainer.step(task)
    print("accuracy", sum(result.accuracy for result in trainer.results) / len(trainer.results))


if __name__ == "__main__":
    main()
