import gc

import torch
from torch import nn
from torch.nn.functional import cross_entropy


def make_optimizer(*modules, lr=1e-3):
    groups = [{"params": list(m.parameters()), "lr": lr} for m in modules]
    return torch.optim.Adam(groups, betas=(0.9, 0.98))


class Curriculum:
    """Masked frames first, labelled calls after; the encoder keeps its moments over the change."""

    def __init__(self, encoder, pretext, final, data):
        self.encoder = encoder
        self.head = pretext()
        self.make_final = final
        self.data = data
        self.optimizer = make_optimizer(encoder, self.head)

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.encoder.parameters(), 5.0)
        self.optimizer.step()
        return loss.item()

    def pretext_step(self):
        x, codes, hidden = self.data.unlabelled()
        return self.step(cross_entropy(self.head(self.encoder, x, hidden), codes[hidden]))

    def change_head(self):
        old, self.head = self.head, self.make_final()
        self.optimizer.add_param_group({"params": list(self.head.parameters()), "lr": 3e-3})
        return old

    def finish_pretext(self):
        self.change_head()
        gc.collect()

    def call_step(self):
        x, y = self.data.labelled()
        return self.step(cross_entropy(self.head(self.encoder, x), y))
