# %% Next-note model on walks along a scale
import torch
from corpus import NOTES, phrases
from decoder import NoteDecoder, update


def main(update=update, steps=40):
    torch.manual_seed(11)
    model = NoteDecoder(NOTES)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    history = []
    for step, (notes, following) in zip(range(steps), phrases()):
        history.append(update(model, optimizer, notes, following))
        if step % 10 == 9:
            print(f"step {step + 1}: loss {sum(history[-10:]) / 10:.3f}")


if __name__ == "__main__":
    main()
