import torch
from components import Components
from recipe import Recipe


class LatentRecipe(Recipe):
    def precompute(self, images, batch=8):
        latents = super().precompute(images, batch)
        self.components.vae = None
        return latents


if __name__ == "__main__":
    torch.manual_seed(5)
    images = torch.rand(48, 3, 32, 32)
    LatentRecipe(Components.load()).run(images)
