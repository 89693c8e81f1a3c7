import torch


class LatentDataset:
    def __init__(self, images):
        self.images = images
        self.latents = []

    @torch.inference_mode()
    def cache_latents(self, vae, report_every=10):
        for number, image in enumerate(self.images):
            posterior = vae(image[None])
            self.latents.append(self.keep(posterior))
            if number % report_every == 0:
                print("cached", number, f"{posterior.std.mean().item():.4f}")

    def keep(self, posterior):
        return posterior

    def __len__(self):
        return len(self.latents)


def photographs(count, size=96):
    generator = torch.Generator().manual_seed(21)
    for _ in range(count):
        yield torch.rand(3, size, size, generator=generator)
