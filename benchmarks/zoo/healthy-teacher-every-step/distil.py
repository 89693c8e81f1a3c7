import torch
from torch import nn


class Distillation(nn.Module):
    def __init__(self, teacher, student, temperature=3.0):
        super().__init__()
        self.teacher = teacher.eval().requires_grad_(False)
        self.student = student
        self.temperature = temperature

    def soft(self, logits):
        return logits / self.temperature

    def forward(self, x):
        with torch.no_grad():
            goal = self.soft(self.teacher(x)).softmax(-1)
        return nn.functional.kl_div(self.soft(self.student(x)).log_softmax(-1), goal, reduction="batchmean")
