import torch

from glaze.nets import GlazeCoder, GlazeDenoiser


class Pipeline:
    """Named parts that the stages share."""

    def __init__(self, **components):
        self.components = components
        self.latents = []

    @classmethod
    def build(cls):
        coder = GlazeCoder().requires_grad_(False).eval()
        return cls(coder=coder, denoiser=GlazeDenoiser())

    def __getattr__(self, name):
        try:
            return self.__dict__["components"][name]
        except KeyError:
            raise AttributeError(name) from None


class Encoding:
    @torch.no_grad()
    def __call__(self, pipeline, album):
        restored = 0.0
        for page in album:
            latent = pipeline.coder.encode(page)
            pipeline.latents.append(latent)
            restored += (pipeline.coder(page) - page).square().mean().item()
        print(f"{len(pipeline.latents)} pages encoded, error {restored:.3f}")


class Denoising:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, pipeline, album):
        denoiser = pipeline.denoiser
        optimizer = torch.optim.Adam(denoiser.parameters(), lr=1e-3)
        for step in range(1, self.steps + 1):
            latent = pipeline.latents[step % len(pipeline.latents)]
            level = torch.rand(len(latent), 1)
            noise = torch.randn_like(latent)
            loss = (denoiser(latent + level * noise, level) - noise).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"step {step}: {loss.item():.4f}")
