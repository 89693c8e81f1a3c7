import torch
import torch.nn.functional as F

from . import scope
from .nets import critic, generator


class Atelier:
    def __init__(self, batch=48):
        self.batch = batch
        self.draws, self.judges = generator(), critic()
        self.draw_opt = torch.optim.Adam(self.draws.parameters(), lr=2e-4, betas=(0.5, 0.9))
        self.judge_opt = torch.optim.Adam(self.judges.parameters(), lr=2e-4, betas=(0.5, 0.9))

    def judge_step(self, real, drawn):
        loss = F.softplus(-self.judges(real)).mean() + F.softplus(self.judges(drawn.detach())).mean()
        self.judge_opt.zero_grad()
        loss.backward()
        self.judge_opt.step()

    def draw_step(self, step, drawn):
        verdict = self.judges(drawn)
        scope.enter(step, drawn, verdict)
        loss = F.softplus(-verdict).mean()
        self.draw_opt.zero_grad()
        loss.backward()
        self.draw_opt.step()

    def step(self, number, real):
        drawn = self.draws(torch.randn(self.batch, 24))
        self.judge_step(real, drawn)
        self.draw_step(number, drawn)
        dark = scope.ink()
        scope.leave()
        return dark
