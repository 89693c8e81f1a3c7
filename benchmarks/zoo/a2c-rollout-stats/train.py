import torch
from a2c import A2C
from cartpoles import CartPoles
from stats import Stats


def main(stats=None, updates=48):
    torch.manual_seed(12)
    learner = A2C(CartPoles(), stats or Stats())
    for _ in range(updates):
        batch = learner.rollout()
        learner.update(batch)
    print("mean return", round(batch.returns.mean().item(), 3))


if __name__ == "__main__":
    main()
