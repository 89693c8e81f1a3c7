import torch
from torch import nn


class Callback:
    def extra_loss(self, step, poses):
        return None

    def after_step(self, step, loss):
        pass


class StyleJudge(nn.Module):
    def __init__(self, joints=75, width=1500):
        super().__init__()
        self.read = nn.Linear(joints, width)
        self.mix = nn.Linear(width, 512)
        self.verdict = nn.Linear(512, 1)

    def forward(self, poses):
        return self.verdict(self.mix(self.read(poses).relu()).relu())


class JudgeGuidance(Callback):
    def __init__(self, until, weight=0.2):
        self.judge = StyleJudge().requires_grad_(False)
        self.until = until
        self.weight = weight

    def extra_loss(self, step, poses):
        if step >= self.until:
            return None
        return -self.weight * self.judge(poses).mean()


class Progress(Callback):
    def __init__(self, every):
        self.every = every

    def after_step(self, step, loss):
        if step % self.every == self.every - 1:
            print(f"step {step}: loss {loss:.4f}")
