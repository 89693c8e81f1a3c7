import torch
import torch.nn.functional as F

from . import stages
from .nets import MaskNet, TextureScorer


class School:
    def __init__(self, easy_steps=8):
        self.easy_steps = easy_steps
        self.stage = stages.Stage.SORTED.equip(TextureScorer())
        self.net = MaskNet()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-3)
        self.advance = stages.advance

    def lesson(self, number, tiles, masks):
        if number == self.easy_steps:
            self.stage = self.advance(self.stage)
        chosen = self.stage.order(tiles)[:10]
        loss = F.binary_cross_entropy_with_logits(self.net(tiles[chosen]), masks[chosen])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
