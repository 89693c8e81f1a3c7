import copy

import torch


class EMA:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for averaged, current in zip(self.shadow.parameters(), model.parameters()):
            averaged.lerp_(current, 1 - self.decay)
