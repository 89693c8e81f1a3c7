import torch
from nets import Tts
from stages import Stages


def phrases(batch=8, length=20):
    generator = torch.Generator().manual_seed(33)
    table = torch.randn(60, 40, generator=generator)
    while True:
        ids = torch.randint(60, (batch, length), generator=generator)
        yield ids, table[ids].transpose(1, 2)


def main(clipper=None):
    torch.manual_seed(33)
    model, batches = Tts(), phrases()
    stages = Stages(model, clipper)
    stages.run(batches, 10, lr=2e-3)
    model.drop_postnet()
    stages.run(batches, 30, lr=1e-3)


if __name__ == "__main__":
    main()
