import functools

import torch
from codec import TuneCodec


class Tunes:
    """Clips made of a few notes each."""

    def __init__(self, count=64, length=8192):
        self.count, self.length = count, length

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        pitches = 0.02 + 0.011 * torch.arange(4) * (1 + index % 5)
        ticks = torch.arange(self.length)
        return torch.sin(pitches[(ticks // 512 + index) % 4] * ticks)


def encode_clips(codec, clips):
    return codec(torch.stack(clips))


def stack_tokens(rows):
    return torch.stack(rows)


class TokenLoader:
    """Tokens of the clips in shuffled batches; each clip is listened to once."""

    def __init__(self, clips, collate, batch_size=8, seed=0):
        self.clips, self.collate, self.batch_size = clips, collate, batch_size
        self.generator = torch.Generator().manual_seed(seed)
        self.tokens = {}

    def batch(self, indices):
        missing = [index for index in indices if index not in self.tokens]
        if missing:
            rows = self.collate([self.clips[index] for index in missing])
            self.tokens.update((index, row.clone()) for index, row in zip(missing, rows))
        return stack_tokens([self.tokens[index] for index in indices])

    def __iter__(self):
        order = torch.randperm(len(self.clips), generator=self.generator).tolist()
        for start in range(0, len(order), self.batch_size):
            yield self.batch(order[start : start + self.batch_size])


def token_loader(clips, **options):
    codec = TuneCodec().eval()
    return TokenLoader(clips, functools.partial(encode_clips, codec), **options)
