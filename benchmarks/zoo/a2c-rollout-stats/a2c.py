from collections import namedtuple

import torch
from stats import tracked
from torch import nn
from torch.distributions import Categorical

Rollout = namedtuple("Rollout", "states actions returns advantages")
Update = namedtuple("Update", "logprob entropy gain value value_error loss")


class ActorCritic(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi = nn.Linear(width, 2)
        self.v = nn.Linear(width, 1)

    def forward(self, states):
        hidden = self.body(states)
        return Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


class A2C:
    def __init__(self, env, stats, horizon=8, gamma=0.98):
        self.env, self.stats, self.horizon = env, stats, horizon
        self.gamma = gamma
        self.net = ActorCritic()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    @torch.no_grad()
    def rollout(self):
        rows = []
        state = self.env.state
        for _ in range(self.horizon):
            policy, value = self.net(state)
            action = policy.sample()
            after, reward, done = self.env.step(action)
            rows.append((state, action, value, reward, done))
            state = after
        states, actions, values, rewards, dones = (torch.stack(column) for column in zip(*rows))
        running = self.net(state)[1]
        returns = torch.empty_like(rewards)
        for t in reversed(range(self.horizon)):
            running = rewards[t] + self.gamma * running * ~dones[t]
            returns[t] = running
        advantages = returns - values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        return Rollout(*(x.flatten(0, 1) for x in (states, actions, returns, advantages)))

    @tracked
    def update(self, batch):
        policy, values = self.net(batch.states)
        logprob = policy.log_prob(batch.actions)
        entropy = policy.entropy()
        gain = logprob * batch.advantages
        error = (values - batch.returns).square()
        loss = -gain.mean() + 0.5 * error.mean() - 0.01 * entropy.mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()
        return Update(logprob, entropy, gain, values, error, loss)
