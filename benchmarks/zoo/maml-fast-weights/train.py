import warnings

import torch
from learner import InnerLoop
from meta import MetaTrainer, SineTasks

warnings.filterwarnings("ignore", message="Using backward")


def main(inner=InnerLoop, steps=40):
    torch.manual_seed(1)
    trainer = MetaTrainer(inner(), SineTasks())
    for step in range(steps):
        loss = trainer.meta_step()
        if step % 10 == 0:
            print(f"{step} query loss {loss:.4f}")


if __name__ == "__main__":
    main()
