from functools import lru_cache

import torch


class Teacher:
    def __init__(self, episodes, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.turns = torch.randint(200, (episodes, 3, 12), generator=self.generator)

    def act(self, number):
        return self.turns[number % len(self.turns)]


class DialogueWorld:
    """A teacher and an agent that talk; built anew for each validation."""

    def __init__(self, teacher, agent):
        self.teacher = teacher
        self.agent = agent
        self.spoken = 0

    @lru_cache(maxsize=256)
    def num_examples(self):
        return self.teacher.turns.shape[0] * self.teacher.turns.shape[1]

    def parley(self):
        query = self.teacher.act(self.spoken)
        self.spoken += 1
        return self.agent.respond(query)

    def report(self):
        return f"{self.spoken} of {self.num_examples()} examples"
