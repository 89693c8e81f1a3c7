import torch
from heads import RareRows, SpeciesNet, sightings
from torch import nn


class Run:
    def __init__(self, rows_class):
        self.net = SpeciesNet()
        self.rows = rows_class(self.net.classifier)
        self.loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)

    def batch(self, images, labels):
        self.rows.watch(labels)
        loss = self.loss_fn(self.net(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(rows_class=RareRows, steps=42):
    torch.manual_seed(101)
    run = Run(rows_class)
    for step, (images, labels) in enumerate(sightings(steps)):
        loss = run.batch(images, labels)
        if step % 14 == 0:
            print(step, f"{loss:.2f} {run.rows.share:.4f}")


if __name__ == "__main__":
    main()
