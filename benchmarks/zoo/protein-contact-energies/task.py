import torch
from torch import nn
from torch.nn import functional as F


class SecondaryStructure(nn.Module):
    """Helix, strand or coil for every residue."""

    def __init__(self, encoder, width=48, kinds=3):
        super().__init__()
        self.encoder = encoder
        self.readout = nn.Linear(width, kinds)

    def forward(self, tokens):
        encoded = self.encoder(tokens)
        return self.readout(encoded.residues), encoded


class Fitter:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def __call__(self, tokens, kinds):
        self.optimizer.zero_grad(set_to_none=True)
        scores, extra = self.model(tokens)
        loss = F.cross_entropy(scores.transpose(1, 2), kinds, ignore_index=-1)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "width": extra.residues.size(-1)}
