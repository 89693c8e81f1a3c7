import torch
from agent import ActorCritic, RolloutStatistics


class PointEnv:
    def __init__(self, num=64):
        self.num = num
        self.goal = torch.randint(6, (num,))

    def observe(self):
        return torch.randn(self.num, 18), torch.nn.functional.one_hot(self.goal, 6).float()

    def reward(self, action):
        reward = (action == self.goal).float()
        self.goal = torch.randint(6, (self.num,))
        return reward


def learn(statistics, updates=60):
    torch.manual_seed(31)
    env, agent = PointEnv(), ActorCritic()
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
    for update in range(updates):
        dist, value = agent(torch.cat(env.observe(), -1))
        action = dist.sample()
        returns = env.reward(action)
        advantage = returns - value
        entropy = dist.entropy().mean()
        loss = -(dist.log_prob(action) * advantage.detach()).mean() + advantage.pow(2).mean() - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        statistics.push(returns, entropy)
        del dist, value, loss, advantage, entropy
        if update % 20 == 19:
            print(update, statistics.recent())


if __name__ == "__main__":
    learn(RolloutStatistics())
