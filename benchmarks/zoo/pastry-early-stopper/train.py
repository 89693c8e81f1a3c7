import torch
import torch.nn.functional as F
from accelerator import Accelerator
from pastry import PastryNet, trays
from stopping import EarlyStopper, Plateau


def validate(accelerator, model, trays):
    model.eval()
    losses = [accelerator.gather(F.cross_entropy(model(images), labels)) for images, labels in trays]
    model.train()
    return torch.stack(losses).mean()


def learn(accelerator, model, optimizer, images, labels):
    with accelerator.accumulate(optimizer):
        accelerator.backward(F.cross_entropy(model(images), labels))


def main(check=validate, steps=48, every=4):
    torch.manual_seed(99)
    accelerator = Accelerator(max_norm=5.0)
    model = PastryNet()
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=5e-3))
    stopper = EarlyStopper(patience=20)
    held_back = list(trays(1, batch=32, seed=102))
    try:
        for step, (images, labels) in enumerate(trays(steps), 1):
            learn(accelerator, model, optimizer, images, labels)
            if step % every == 0:
                stopper(check(accelerator, model, held_back))
                print(f"step {step} validation {stopper.smoothed:.4f}")
    except Plateau as reached:
        print(reached)


if __name__ == "__main__":
    main()
