import torch


class Recipe:
    def __init__(self, components, seed=5):
        self.components = components
        self.optimizer = torch.optim.AdamW(components.denoiser.parameters(), lr=1e-3)
        self.generator = torch.Generator().manual_seed(seed)

    def precompute(self, images, batch=8):
        with torch.no_grad():
            return torch.cat([self.components.vae(chunk) for chunk in images.split(batch)])

    def train(self, latents, steps):
        denoiser = self.components.denoiser
        for step in range(steps):
            x = latents[torch.randint(len(latents), (8,), generator=self.generator)]
            t = torch.rand(8, 1, generator=self.generator)
            noise = torch.randn(x.shape, generator=self.generator)
            mix = t[:, :, None, None]
            loss = (denoiser((1 - mix) * x + mix * noise, t) - (noise - x)).square().mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if step % 10 == 0:
                print(step, f"{loss.item():.4f}")

    def run(self, images, steps=40):
        latents = self.precompute(images)
        print("latents", tuple(latents.shape))
        self.train(latents, steps)
