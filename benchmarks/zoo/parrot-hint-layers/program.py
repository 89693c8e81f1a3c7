import torch
from hints import Hints
from torch.nn.functional import cross_entropy, kl_div


class Program:
    def __init__(self, student, teacher, data, hints=Hints):
        self.student, self.teacher, self.data = student, teacher, data
        self.hints = hints(student, teacher)
        self.optimizer = torch.optim.Adam([*student.parameters(), *self.hints.parameters()], lr=1e-3)

    def apply(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def imitate(self, steps):
        for _ in range(steps):
            x, y = self.data.batch()
            with torch.no_grad():
                soft = self.teacher(x).softmax(1)
            loss = kl_div(self.student(x).log_softmax(1), soft, reduction="batchmean")
            last = self.apply(loss + 0.1 * self.hints())
        self.hints.detach_from()
        self.teacher = None
        return last

    def refine(self, steps):
        right = 0
        for _ in range(steps):
            x, y = self.data.batch()
            scores = self.student(x)
            self.apply(cross_entropy(scores, y))
            right += int((scores.argmax(1) == y).sum())
        return right / (16 * steps)
