import torch


class TrajectoryBalance:
    def __init__(self, policy, sampler, replay, lr=2e-3, count=64):
        self.policy, self.sampler, self.replay, self.count = policy, sampler, replay, count
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)

    def residual(self, logits, actions, log_reward):
        log_pf = logits.gather(-1, actions.unsqueeze(-1)).squeeze(-1).sum(1)
        return (self.policy.log_z + log_pf - log_reward).square().mean()

    def online(self):
        trajectory = self.sampler.sample(self.count)
        self.replay.push(trajectory)
        return self.residual(trajectory.flow_logits, trajectory.actions, trajectory.log_reward)

    def offline(self):
        past = self.replay.pick()
        logits = self.policy(past.states).log_softmax(-1)
        return self.residual(logits, past.actions, past.log_reward)

    def step(self, number):
        loss = self.offline() if number % 2 else self.online()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
