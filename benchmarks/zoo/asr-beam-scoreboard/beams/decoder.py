import torch

from .tree import Hypothesis


class BeamDecoder:
    node = Hypothesis

    def __init__(self, beams=3, length=5):
        self.beams, self.length = beams, length

    @torch.no_grad()
    def decode(self, scorer, memory):
        root = self.node(0, 0.0, memory.mean(0))
        front = [root]
        for _ in range(self.length):
            grown = []
            for hypothesis in front:
                chances, state = scorer.follow(hypothesis.token, hypothesis.state, memory)
                best = chances.topk(self.beams)
                grown += [
                    hypothesis.follow(int(token), float(score), state)
                    for token, score in zip(best.indices, best.values)
                ]
            front = sorted(grown, key=lambda h: h.score, reverse=True)[: self.beams]
        return front[0].tokens()
