from itertools import islice

import torch
from meter import SavedBytes
from wavegen import WaveModel, waves


def main(make_meter=SavedBytes, steps=40):
    torch.manual_seed(9)
    model, meter = WaveModel(), make_meter()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, (noisy, clean) in enumerate(islice(waves(), steps)):
        meter(model, noisy)
        loss = (model(noisy) - clean).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"step {step} loss {loss.item():.4f} saved {meter.average() / 2**10:.0f} KiB")


if __name__ == "__main__":
    main()
