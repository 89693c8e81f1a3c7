import torch
from module import PoseModule
from trainer import Trainer


class People:
    def __init__(self, count, seed, batch=3, size=48):
        self.count, self.seed, self.batch, self.size = count, seed, batch, size

    def __call__(self):
        generator = torch.Generator().manual_seed(self.seed)
        for _ in range(self.count):
            images = torch.rand(self.batch, 3, self.size, self.size, generator=generator)
            yield images, torch.randint((self.size // 2) ** 2, (self.batch, 17), generator=generator)


def main(module_class=PoseModule):
    torch.manual_seed(136)
    module = module_class()
    Trainer(max_epochs=10).fit(module, People(4, 137), People(4, 138))
    image, _ = next(People(1, 139)())
    print("nose at", module(image).detach()[:, 0].argmax(-1).tolist())


if __name__ == "__main__":
    main()
