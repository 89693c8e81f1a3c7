import torch


class MemberArchive:
    """Perturbed members of one trained network, stored as signed bytes with a scale per array."""

    def __init__(self, trained, members=4, spread=0.02):
        generator = torch.Generator().manual_seed(31)
        self.members = []
        for _ in range(members):
            packed = {}
            for name, value in trained.items():
                moved = value + spread * torch.randn(value.shape, generator=generator)
                scale = moved.abs().max().item() / 127
                packed[name] = (moved.div_(scale).round_().to(torch.int8), scale)
            self.members.append(packed)

    def __len__(self):
        return len(self.members)

    def fetch(self, member):
        return {name: values.float().mul_(scale) for name, (values, scale) in self.members[member].items()}
