import torch
from train import main
from trainer import Trainer


class DirectTrainer(Trainer):
    def compute_metrics(self):
        return {name: round(metric.compute(), 4) for name, metric in self.metrics.items()}


if __name__ == "__main__":
    torch.manual_seed(0)
    main(DirectTrainer())
