import statistics

import torch
from fields import Plots
from logs import setup
from trainer import FoldTrainer


def main(trainer_class=FoldTrainer):
    torch.manual_seed(91)
    setup()
    plots, scores = Plots(), []
    for fold in range(plots.folds):
        known, held = plots.fold(fold)
        trainer = trainer_class(fold)
        scores.append(trainer.run(known, held, steps=4))
    print("mean", f"{statistics.mean(scores):.4f}", "spread", f"{statistics.stdev(scores):.4f}")


if __name__ == "__main__":
    main()
