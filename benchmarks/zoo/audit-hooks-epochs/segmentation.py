import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.down = nn.Conv2d(3, 16, 3, padding=1)
        self.mid = nn.Conv2d(16, 16, 3, padding=1)
        self.out = nn.Conv2d(16, classes, 1)

    def forward(self, images):
        return self.out(torch.relu(self.mid(torch.relu(self.down(images)))))


def tiles(count, generator):
    for _ in range(count):
        images = torch.rand(4, 3, 32, 32, generator=generator)
        yield images, (images.sum(1) * 1.3).long().clamp(max=3)


class Fitter:
    def __init__(self, model, callbacks, epochs=24, tiles_per_epoch=2):
        self.model, self.callbacks = model, callbacks
        self.epochs, self.tiles_per_epoch = epochs, tiles_per_epoch
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def each(self, event, epoch):
        for callback in self.callbacks:
            getattr(callback, event)(epoch, self.model)

    def fit(self):
        generator = torch.Generator().manual_seed(3)
        for epoch in range(self.epochs):
            self.each("on_epoch_start", epoch)
            for images, labels in tiles(self.tiles_per_epoch, generator):
                self.optimizer.zero_grad()
                loss = nn.functional.cross_entropy(self.model(images), labels)
                loss.backward()
                self.optimizer.step()
            self.each("on_epoch_end", epoch)
            if epoch % 6 == 0:
                print(epoch, f"{loss.item():.4f}")
