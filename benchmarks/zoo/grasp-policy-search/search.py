import torch
import torch.nn.functional as F

from episodes import Archive, Episode
from gripper import Actor, Bin, Critic


class PolicySearch:
    make_episode = Episode

    def __init__(self, seed=21):
        self.bin = Bin(seed)
        self.actor, self.critic = Actor(), Critic()
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.archive = Archive()

    def attempt(self, number):
        view = self.bin.look()
        chances = self.actor(view)
        action = chances.sample()
        reward = self.bin.grasp(view, action)
        episode = self.make_episode(number, action, self.critic(view), reward)
        self.improve(chances, episode)
        if number % 2 == 0:
            self.value_step(view, reward)
        self.archive.file(episode)
        return reward.mean().item()

    def improve(self, chances, episode):
        advantage = episode.reward - episode.value.detach()
        loss = -(chances.log_prob(episode.action).sum(-1) * advantage).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()

    def value_step(self, view, reward):
        loss = F.mse_loss(self.critic(view), reward)
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
