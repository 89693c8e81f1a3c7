import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width + 1, inner), nn.SiLU(), nn.Linear(inner, inner), nn.SiLU())
        self.out = nn.Linear(inner, width)

    def forward(self, x, time):
        return self.out(self.net(torch.cat((x, time.expand(len(x), 1)), -1)))


class StylePipeline:
    """Draws small pictures in one style, a few denoising steps each."""

    styles = {"sketch": (0, 640), "photo": (1, 384)}

    def __init__(self, style, width=256):
        seed, inner = self.styles[style]
        torch.manual_seed(seed)
        self.style, self.width = style, width
        self.unet = Mixer(width, inner).eval().requires_grad_(False)
        self.done = self.planned = 0

    def progress(self):
        return f"{self.style}: {self.done} of {self.planned}"

    @torch.no_grad()
    def __call__(self, seed, steps=4, pictures=2):
        self.done, self.planned = 0, steps
        x = torch.randn(pictures, self.width, generator=torch.Generator().manual_seed(seed))
        for time in torch.linspace(1, 0, steps)[:, None]:
            x = x - self.unet(x, time) / steps
            self.done += 1
        return x
