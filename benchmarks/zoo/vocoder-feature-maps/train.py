import torch
from adversarial import Turns
from vocoder import utterances


def main(turns_class=Turns, steps=36):
    torch.manual_seed(1234)
    turns = turns_class()
    for step, (mel, wave) in enumerate(utterances(steps)):
        losses = turns.batch(mel, wave)
        if step % 9 == 0:
            print("step {:3d}  judge {:.4f}  voice {:.3f}".format(step, *losses))


if __name__ == "__main__":
    main()
