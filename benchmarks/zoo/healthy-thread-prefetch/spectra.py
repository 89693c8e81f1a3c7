import torch


class Clips:
    def __init__(self, per_epoch=14, batch=8):
        self.per_epoch, self.batch = per_epoch, batch
        self.epoch = 0
        self.window = torch.hann_window(256)

    def clip(self, g):
        pitch = torch.randint(0, 6, (self.batch,), generator=g)
        t = torch.arange(16_000) / 16_000
        wave = torch.sin(6.283 * (200 + 90 * pitch[:, None]) * t) + 0.3 * torch.randn(self.batch, 16_000, generator=g)
        return torch.stft(wave, 256, window=self.window, return_complex=True).abs().log1p(), pitch

    def __call__(self):
        g = torch.Generator().manual_seed(self.epoch)
        self.epoch += 1
        for _ in range(self.per_epoch):
            yield self.clip(g)
