import torch
from depthnet import DepthNet
from wrapper import EpochTrainer, ModelWrapper


def street_scenes(batches=14, batch=3, size=64):
    generator = torch.Generator().manual_seed(53)
    for _ in range(batches):
        rgb = torch.rand(batch, 3, size, size, generator=generator)
        yield {"rgb": rgb, "depth": rgb.mean(1, keepdim=True)}


def main(trainer_class=EpochTrainer):
    torch.manual_seed(54)
    trainer_class().fit(ModelWrapper(DepthNet()), street_scenes)


if __name__ == "__main__":
    main()
