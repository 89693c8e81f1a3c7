import torch


class Spectra:
    """Three-component traces to standardised log spectrograms."""

    def __init__(self, window=128, hop=48):
        self.window, self.hop = window, hop
        self.taper = torch.hann_window(window)

    def __call__(self, record):
        traces = record["traces"]
        traces = (traces - traces.mean(-1, keepdim=True)).float().flatten(0, 1)
        power = torch.stft(traces, self.window, self.hop, window=self.taper, return_complex=True).abs()
        power = power.clamp_min(1e-5).log()
        power = (power - power.mean((1, 2), keepdim=True)) / power.std((1, 2), keepdim=True)
        frames = (record["onset"] // self.hop).clamp(max=power.shape[-1] - 1)
        return power.unflatten(0, (-1, 3)), frames


class WaveFeed:
    """Hands out prepared batches and is always one ahead of the training."""

    def __init__(self, source, prepare):
        self.source, self.prepare = source, prepare
        self.record = self.ready = None
        self.stage()

    def stage(self):
        self.record = next(self.source, None)
        self.ready = None if self.record is None else self.prepare(self.record)

    def __iter__(self):
        return self

    def __next__(self):
        if self.ready is None:
            raise StopIteration
        batch = self.ready
        self.stage()
        return batch
