from dataclasses import dataclass

import torch
from probes import Liveliness
from torch import nn
from torch.nn import functional


@dataclass
class Plan:
    epochs: int = 8
    steps: int = 6
    batch: int = 24
    lr: float = 4e-3


class Runner:
    probe_type = Liveliness

    def __init__(self, net, plan):
        self.net, self.plan = net, plan
        self.optimizer = torch.optim.SGD(net.parameters(), plan.lr, momentum=0.9)

    def train_epoch(self, data):
        self.net.train()
        total = 0.0
        for traces, rhythm in data:
            loss = functional.cross_entropy(self.net(traces), rhythm)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / self.plan.steps

    @torch.inference_mode()
    def examine(self, data):
        self.net.eval()
        right = count = 0
        with self.probe_type((nn.ReLU,)) as probe:
            for traces, rhythm in data:
                right += (self.net(traces).argmax(1) == rhythm).sum().item()
                count += len(rhythm)
        return {"accuracy": right / count, "dead": probe.dead_share()}

    def run(self, train, held_out):
        size = self.plan.batch
        for epoch in range(self.plan.epochs):
            loss = self.train_epoch(zip(*(part.split(size) for part in train)))
            yield epoch, {"loss": loss, **self.examine(zip(*(part.split(size) for part in held_out)))}
