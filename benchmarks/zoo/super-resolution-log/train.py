import torch
from engine import Engine
from losses import Criterion, Features
from upscaler import Upscaler, pairs


def main(make_criterion=Criterion, steps=40):
    torch.manual_seed(40)
    engine = Engine(Upscaler(), make_criterion(Features()))

    @engine.on(every=10)
    def report(number):
        print(f"{number:3d}  {engine.criterion.line}")

    engine.run(pairs(), steps)


if __name__ == "__main__":
    main()
