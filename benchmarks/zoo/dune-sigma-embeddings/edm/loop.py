import torch


class Loop:
    def __init__(self, model, pictures, lr=1e-3, batch=4):
        self.model, self.pictures, self.batch = model, pictures, batch
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.step_number = 0

    def step(self):
        x = self.pictures[torch.randint(len(self.pictures), (self.batch,))]
        sigma = (torch.randn(self.batch) * 1.2 - 1.2).exp()
        weight = (sigma**2 + 0.25) / (0.5 * sigma) ** 2
        noisy = x + torch.randn_like(x) * sigma[:, None, None, None]
        loss = (weight[:, None, None, None] * (self.model(noisy, sigma) - x).square()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.step_number += 1
        return loss.item()

    @torch.no_grad()
    def preview(self, steps=5):
        levels = torch.linspace(8**0.5, 0.05, steps) ** 2
        x = torch.randn(1, *self.pictures.shape[1:]) * levels[0]
        for now, after in zip(levels[:-1], levels[1:]):
            d = (x - self.model(x, now[None])) / now
            x = x + (after - now) * d
        return x.std().item()
