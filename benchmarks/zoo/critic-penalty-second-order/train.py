import warnings

import torch
from learner import CriticLearner
from networks import Critic, PixelEncoder

warnings.filterwarnings("ignore", message="Using backward.. with create_graph")


def replay(batch=24, size=32):
    generator = torch.Generator().manual_seed(71)
    while True:
        frames = torch.rand(batch, 3, size, size, generator=generator)
        actions = torch.rand(batch, 4, generator=generator) * 2 - 1
        yield frames, actions, frames.mean((1, 2, 3)) * 4 + actions.sum(1)


def main(make_learner=CriticLearner, steps=40):
    torch.manual_seed(70)
    learner = make_learner(Critic(PixelEncoder()))
    for step, batch in zip(range(1, steps + 1), replay()):
        loss, norm = learner.update(*batch)
        if step % 10 == 0:
            print(f"{step:3d} td {loss:.4f} gradient {norm:.4f}")


if __name__ == "__main__":
    main()
