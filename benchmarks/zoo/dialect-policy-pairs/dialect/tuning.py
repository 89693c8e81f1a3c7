import copy

import torch
import torch.nn.functional as F

from dialect.model import DialectModel
from dialect.pairs import PairFeed, log_probability


class PreferenceTuner:
    def __init__(self, seed, strength=0.1):
        torch.manual_seed(seed)
        self.policy = DialectModel()
        self.reference = copy.deepcopy(self.policy).requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.05)
        self.feed = PairFeed(seed=seed)
        self.strength = strength

    @torch.no_grad()
    def judge(self, tokens):
        return self.reference(tokens)

    def answer(self, tokens):
        return self.policy(tokens)

    def margin_of(self, pairs):
        judged = self.judge(pairs)
        policy = self.answer(pairs)
        before = log_probability(judged["logits"], pairs)
        return log_probability(policy["logits"], pairs) - before

    def step(self):
        pairs = self.feed.draw()
        gain = self.margin_of(pairs)
        liked, disliked = gain.chunk(2)
        margin = liked - disliked
        loss = -F.logsigmoid(self.strength * margin).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "margin": margin.mean().item()}
