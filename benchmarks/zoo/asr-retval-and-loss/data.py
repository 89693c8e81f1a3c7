import torch


def utterances(batch_size=4, frames=50, labels=20):
    generator = torch.Generator().manual_seed(7)
    number = 0
    while True:
        speech = torch.randn(batch_size, frames, 24, generator=generator)
        text = torch.randint(96, (batch_size, labels), generator=generator)
        yield f"utt{number:05d}", {"speech": speech, "text": text}
        number += 1
