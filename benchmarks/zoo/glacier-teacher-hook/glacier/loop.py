import torch
import torch.nn.functional as F


class Loop:
    def __init__(self, student, radar, guide):
        self.student = student
        self.radar = radar
        self.guide = guide
        self.optimizer = torch.optim.SGD(student.parameters(), lr=0.05)

    def dismiss(self):
        self.guide.close()
        print("the teacher is dismissed")

    def step(self):
        echoes, fronts = self.radar.draw()
        loss = F.mse_loss(self.student(echoes), fronts) + 0.1 * self.guide.gap()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
