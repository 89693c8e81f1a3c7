from dataclasses import dataclass

import torch


@dataclass
class Clips:
    mel: torch.Tensor
    species: torch.Tensor
    soft: torch.Tensor | None = None

    def __len__(self):
        return len(self.mel)

    def draw(self, size, generator):
        rows = torch.randint(len(self), (size,), generator=generator)
        return self.mel[rows], self.species[rows], self.soft[rows]


def recordings(count=160, species=20, seed=14):
    generator = torch.Generator().manual_seed(seed)
    kind = torch.randint(species, (count,), generator=generator)
    pitch = torch.linspace(0, 1, 32)[None, :, None]
    call = torch.exp(-((pitch - kind[:, None, None] / species) ** 2) * 60)
    return Clips((call * torch.rand(count, 32, 40, generator=generator))[:, None], kind)
