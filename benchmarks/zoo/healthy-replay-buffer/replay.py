import random
from dataclasses import dataclass

import torch


@dataclass
class Transition:
    observation: torch.Tensor
    action: int
    reward: float
    following: torch.Tensor


class ReplayBuffer:
    def __init__(self, capacity):
        self.capacity = capacity
        self.transitions = []
        self.position = 0

    def push(self, transition):
        if len(self.transitions) < self.capacity:
            self.transitions.append(transition)
        else:
            self.transitions[self.position] = transition
        self.position = (self.position + 1) % self.capacity

    def sample(self, size):
        chosen = random.sample(self.transitions, min(size, len(self.transitions)))
        stack = torch.stack
        return (
            stack([t.observation for t in chosen]),
            torch.tensor([t.action for t in chosen]),
            torch.tensor([t.reward for t in chosen]),
            stack([t.following for t in chosen]),
        )
