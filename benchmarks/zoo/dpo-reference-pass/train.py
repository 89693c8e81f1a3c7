import itertools

import torch
from model import Writer
from preference import pair_stream
from trainer import PreferenceTrainer


def main(trainer_class=PreferenceTrainer, steps=34):
    torch.manual_seed(77)
    model = Writer()
    trainer = trainer_class(model)
    for step, pairs in enumerate(itertools.islice(pair_stream(model.vocab), steps)):
        loss, rewards = trainer.training_step(pairs)
        if step % 8 == 0:
            print(f"{step:3d} loss {loss:.4f} margin {rewards.margin:.4f}")


if __name__ == "__main__":
    main()
