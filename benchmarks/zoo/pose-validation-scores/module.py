import torch
from torch import nn


class PoseModule(nn.Module):
    """A model with its own steps, as a trainer calls them."""

    def __init__(self, joints=17, width=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1), nn.GELU(), nn.Conv2d(width, joints, 3, 1, 1), nn.Flatten(2)
        )
        self.my_scores = []

    def forward(self, images):
        return self.layers(images)

    def training_step(self, batch):
        images, joints = batch
        return nn.functional.cross_entropy(self(images).flatten(0, 1), joints.flatten())

    def validation_step(self, batch):
        images, joints = batch
        likely = self(images).softmax(-1)
        self.my_scores.append(likely)
        return (likely.argmax(-1) == joints).float().mean()

    def on_validation_epoch_end(self, log):
        log("confidence", torch.stack(self.my_scores[-4:]).amax(-1).mean().item())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)
