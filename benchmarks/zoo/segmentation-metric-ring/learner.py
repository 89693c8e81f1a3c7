import torch
import torch.nn.functional as F
from metrics import BatchIoU
from torch import nn


class SegLearner:
    def __init__(self, num_classes=6):
        self.num_classes = num_classes
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, num_classes, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.worst = [0] * num_classes

    def make_metric(self):
        return BatchIoU(self.num_classes)

    def step(self, images, target):
        logits = self.net(images)
        loss = F.cross_entropy(logits, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        report = self.make_metric().evaluate(logits.detach(), target)
        self.worst[report.worst_class()] += 1
        return loss.item()
