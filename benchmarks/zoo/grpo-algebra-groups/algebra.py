import torch


class Questions:
    """Prompts of made-up sums; an answer is the better the more of its tokens fall into the residue class."""

    def __init__(self, vocab=1400, count=4, length=8, seed=3):
        self.vocab, self.count, self.length = vocab, count, length
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self):
        return torch.randint(self.vocab, (self.count, self.length), generator=self.generator)

    def reward(self, answers):
        return (answers % 7 == 3).float().mean(1)
