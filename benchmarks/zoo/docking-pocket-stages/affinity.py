import torch
from torch import nn
from torch.nn import functional


class AffinityHead(nn.Module):
    def __init__(self, pocket=48, ligand=64, width=128):
        super().__init__()
        self.pocket, self.ligand = nn.Linear(pocket, width), nn.Linear(ligand, width)
        self.score = nn.Sequential(nn.LayerNorm(width), nn.GELU(), nn.Linear(width, 1))

    def forward(self, pockets, ligands):
        return self.score(self.pocket(pockets) * self.ligand(ligands)).squeeze(-1)


class AffinityJob:
    def __init__(self, head, steps=40, batch=64):
        self.head, self.steps, self.batch = head, steps, batch

    def train(self, pockets):
        pockets = functional.normalize(pockets.clone(), dim=1)
        generator = torch.Generator().manual_seed(77)
        taste = torch.randn(48, 64, generator=generator)
        optimizer = torch.optim.Adam(self.head.parameters(), lr=3e-3)
        losses = []
        for step in range(self.steps):
            chosen = pockets[torch.randint(len(pockets), (self.batch,), generator=generator)]
            ligands = torch.randn(self.batch, 64, generator=generator)
            wanted = ((chosen @ taste) * ligands).sum(1) / 8
            loss = functional.mse_loss(self.head(chosen, ligands), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if step % 8 == 0:
                print(f"step {step:2d} loss {losses[-1]:.4f}")
        return losses
