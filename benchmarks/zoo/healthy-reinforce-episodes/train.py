import torch
from environment import Corridor
from torch import nn


class Policy(nn.Module):
    def __init__(self, size=200, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, width), nn.Tanh(), nn.Linear(width, 1))
        self.saved_log_probs, self.rewards = [], []

    def forward(self, picture):
        return self.body(picture).mean()

    def act(self, picture):
        going = torch.distributions.Bernoulli(logits=self(picture))
        action = going.sample()
        self.saved_log_probs.append(going.log_prob(action))
        return bool(action)


def returns(rewards, discount=0.97):
    total, result = 0.0, []
    for reward in reversed(rewards):
        total = reward + discount * total
        result.insert(0, total)
    return torch.tensor(result)


def finish_episode(policy, optimizer):
    values = returns(policy.rewards)
    loss = -(torch.stack(policy.saved_log_probs) * (values - values.mean())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy.saved_log_probs.clear()
    policy.rewards.clear()
    return loss.item()


def play(policy, environment):
    picture, done = environment.reset(), False
    while not done:
        picture, reward, done = environment.step(policy.act(picture))
        policy.rewards.append(reward)
    return environment.walked


def main():
    torch.manual_seed(84)
    policy, environment = Policy(), Corridor()
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-4)
    for episode in range(40):
        walked = play(policy, environment)
        loss = finish_episode(policy, optimizer)
        if episode % 4 == 3:
            print(episode, walked, f"{loss:.3f}")


if __name__ == "__main__":
    main()
