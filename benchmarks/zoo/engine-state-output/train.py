import torch
from engine import Engine
from metrics import Accuracy
from parsing import FieldNet, parcels, supervised
from torch import nn


def main(engine_class=Engine):
    torch.manual_seed(16)
    model = FieldNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    trainer = engine_class(supervised(model, optimizer, nn.functional.cross_entropy))
    Accuracy().attach(trainer, "accuracy")

    @trainer.on("iteration", every=12)
    def log(engine):
        print(engine.state.iteration, f"{engine.state.output['loss']:.4f}")

    state = trainer.run(parcels(), max_epochs=4)
    print(f"accuracy {state.metrics['accuracy']:.4f}")


if __name__ == "__main__":
    main()
