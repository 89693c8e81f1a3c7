import torch
from sumtree import PriorityMemory, td_errors_of_new
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 51))

    def forward(self, x):
        return self.net(x)


def main(memory, steps=50):
    torch.manual_seed(0)
    critic = Critic()
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    for step in range(steps):
        states, returns = torch.randn(256, 20), torch.rand(256, 51)
        errors = (critic(states) - returns).abs()
        optimizer.zero_grad()
        errors.mean().backward()
        optimizer.step()
        memory.extend(td_errors_of_new(errors.detach(), fresh=4))
        if step % 10 == 9:
            print(step, memory.sample(8).tolist())


if __name__ == "__main__":
    main(PriorityMemory())
