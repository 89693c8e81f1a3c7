import weakref

import torch
from learner import SegLearner
from metrics import BatchIoU
from train import fit


class AcyclicIoU(BatchIoU):
    def evaluate(self, logits, target):
        report = super().evaluate(logits, target)
        self.report = None
        report.metric = weakref.proxy(self)
        return report


class Learner(SegLearner):
    def __init__(self):
        super().__init__()
        self.metric = AcyclicIoU(self.num_classes)

    def make_metric(self):
        return self.metric


if __name__ == "__main__":
    torch.manual_seed(9)
    fit(Learner())
