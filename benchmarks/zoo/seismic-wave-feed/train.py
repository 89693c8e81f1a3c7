import torch
from feed import Spectra, WaveFeed
from picker import Picker, PickerTraining
from stations import arrivals


def main(feed_class=WaveFeed, steps=45):
    torch.manual_seed(30)
    training = PickerTraining(Picker())
    for step, (spectra, frames) in enumerate(feed_class(arrivals(steps), Spectra())):
        loss = training.step(spectra, frames)
        del spectra, frames
        if step % 9 == 8:
            print(f"{step + 1:3d} loss {loss:.4f} off by {sum(training.off[-9:]) / 9:.1f} frames")


if __name__ == "__main__":
    main()
