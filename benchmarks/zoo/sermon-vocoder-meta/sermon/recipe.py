import torch
import torch.nn.functional as F

from sermon.prosody import Vocoder


class Recipe:
    def __init__(self, model, readings, norms):
        self.model = model
        self.readings = readings
        self.norms = norms
        self.vocoder = Vocoder().requires_grad_(False)
        self.loudness = 1.0
        self.norms.follow("prosody", self.model)
        self.norms.follow("vocoder", self.vocoder)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    @torch.no_grad()
    def calibrate(self, rounds):
        for _ in range(rounds):
            phones, _ = self.readings.draw()
            self.loudness = 0.5 * self.loudness + 0.5 * self.vocoder(phones).square().mean().sqrt().item()

    def retire_vocoder(self):
        """The vocoder keeps its shape, for the export, and gives its weights back."""
        self.vocoder.to("meta")
        print(f"loudness {self.loudness:.3f}, {len(self.norms.norms())} weights at the start")

    def learn(self):
        phones, contour = self.readings.draw()
        loss = F.l1_loss(self.model(phones) * self.loudness, contour)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
