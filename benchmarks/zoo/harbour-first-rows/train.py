from functools import partial

import torch
from hydrophone import SpectrogramAutoencoder, recordings
from listeners import ContactSheet, LossPrinter


def notify(listeners, event, *args):
    for listener in listeners:
        getattr(listener, event)(*args)


def fit_batch(model, optimizer, spectrogram):
    explained = model(spectrogram)
    loss = (explained - spectrogram).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return spectrogram, explained.detach(), loss.item()


def main(sheet=ContactSheet, epochs=4, batches=12):
    torch.manual_seed(190)
    model = SpectrogramAutoencoder()
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    tell = partial(notify, [LossPrinter(), sheet()])
    for epoch in range(epochs):
        tell("epoch_begins", epoch)
        for spectrogram in recordings(batches):
            tell("batch_done", *fit_batch(model, optimizer, spectrogram))
        tell("epoch_ends", epoch)


if __name__ == "__main__":
    main()
