import torch
from torch import nn

from omni.learner import MetaLearner
from omni.tasks import sinusoids


def main(make_learner=MetaLearner, iterations=30, tasks=3):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
    learner, optimizer = make_learner(model), torch.optim.Adam(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(1)
    for iteration in range(iterations):
        losses = [learner.query_loss(t) for t in sinusoids(tasks, generator, iteration * tasks)]
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
