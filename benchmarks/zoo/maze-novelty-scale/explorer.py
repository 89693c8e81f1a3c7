import torch
from curiosity import Novelty, mlp
from torch.distributions import Categorical


class Explorer:
    def __init__(self, mazes, novelty=Novelty, horizon=6):
        size = 2 * mazes.side**2
        self.mazes, self.horizon = mazes, horizon
        self.policy = mlp(size, 96, 4)
        self.novelty = novelty(size)
        self.optimizer = torch.optim.Adam(
            [*self.policy.parameters(), *self.novelty.predictor.parameters()], lr=1e-3
        )

    def play(self):
        states, actions, rewards = [], [], []
        for _ in range(self.horizon):
            state = self.mazes.look()
            with torch.no_grad():
                action = Categorical(logits=self.policy(state)).sample()
            reward = self.mazes.move(action)
            rewards.append(reward + 0.5 * self.novelty.bonus(self.mazes.look()))
            states.append(state)
            actions.append(action)
        returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
        return torch.cat(states), torch.cat(actions), returns.flatten()

    def learn(self):
        states, actions, returns = self.play()
        advantage = (returns - returns.mean()) / (returns.std() + 1e-5)
        policy = Categorical(logits=self.policy(states))
        fit = self.novelty.error(states[torch.randperm(len(states))[:256]]).mean()
        loss = -(policy.log_prob(actions) * advantage).mean() - 0.01 * policy.entropy().mean() + fit
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(returns.mean())
