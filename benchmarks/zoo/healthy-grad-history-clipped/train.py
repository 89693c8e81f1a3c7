import torch
from torch import nn

from clipping import UsualGradient


class Policy(nn.Module):
    def __init__(self, view=30, moves=4, width=72):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(view, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.moves = nn.Linear(width, moves)

    def forward(self, view):
        return torch.distributions.Categorical(logits=self.moves(self.body(view)))


def main(steps=50, batch=48):
    torch.manual_seed(280)
    gen = torch.Generator().manual_seed(281)
    policy = Policy()
    usual = UsualGradient(policy)
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=2e-3)
    rewards = []
    for _ in range(steps):
        view = torch.randn(batch, 30, generator=gen)
        chances = policy(view)
        move = torch.multinomial(chances.probs.detach(), 1, generator=gen).squeeze(1)
        reward = (move == view[:, :4].argmax(1)).float()
        loss = -(chances.log_prob(move) * (reward - 0.25)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rewards.append(reward.mean().item())
    print(f"{len(usual.history)} parameters watched, reward {sum(rewards[-10:]) / 10:.3f}")


if __name__ == "__main__":
    main()
