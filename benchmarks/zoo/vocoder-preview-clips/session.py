from dataclasses import dataclass, field

import torch


@dataclass
class Preview:
    """Short clips for the sound page of the dashboard."""

    samples: int = 160
    clips: dict = field(default_factory=dict)

    def listen(self, step, waves):
        self.clips[f"step-{step:05d}"] = waves.detach()[0, : self.samples]

    def loudness(self):
        return torch.stack(list(self.clips.values())).abs().amax(1)


class Session:
    def __init__(self, vocoder, distance, preview, lr=2e-3):
        self.vocoder, self.distance, self.preview = vocoder, distance, preview
        self.optimizer = torch.optim.AdamW(vocoder.parameters(), lr=lr, betas=(0.8, 0.99))
        self.step = 0

    def advance(self, mels, wave):
        self.step += 1
        fake = self.vocoder(mels)[:, : wave.size(1)]
        loss = self.distance(fake, wave)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.preview.listen(self.step, fake)
        return loss.item()
