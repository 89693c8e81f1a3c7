import torch
from alignment import note_alignment
from history import History
from network import Transcriber


def recitals(batch=12, frames=64, notes=9, seed=17):
    generator = torch.Generator().manual_seed(seed)
    while True:
        keys = torch.randint(1, 89, (batch, notes), generator=generator)
        spectrum = 0.3 * torch.rand(batch, 84, frames, generator=generator)
        for place in range(notes):
            rows = (keys[:, place] - 1).clamp_max(83)
            spectrum[torch.arange(batch), rows, place * 7 + 2] += 1
        lengths = torch.randint(5, notes + 1, (batch,), generator=generator)
        yield spectrum, keys, lengths


def main(align=note_alignment, keep=lambda cost: cost, steps=48):
    torch.manual_seed(17)
    net = Transcriber()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    history = History()
    for spectrum, keys, lengths in recitals():
        cost = align(net(spectrum), keys, lengths)
        optimizer.zero_grad()
        cost.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        history.put(cost=keep(cost), norm=norm.item(), lr=scheduler.get_last_lr()[0])
        if len(history) % 12 == 0:
            print(len(history), *(f"{name} {history.window(name, 12):.4f}" for name in ("cost", "norm", "lr")))
        if len(history) == steps:
            break


if __name__ == "__main__":
    main()
