import torch
from sparsemax import Sparsemax
from splicing import SpliceNet
from torch.nn import functional


def transcripts(batch=16, length=144, seed=30):
    generator = torch.Generator().manual_seed(seed)
    while True:
        bases = torch.randint(4, (batch, length), generator=generator)
        codons = bases.view(batch, -1, 3)
        donor = (codons[..., 0] == 2) & (codons[..., 1] == 3)
        acceptor = (codons[..., 1] == 0) & (codons[..., 2] == 2)
        yield bases, torch.where(donor, 1, torch.where(acceptor, 2, 0))


def main(normalizer=Sparsemax, steps=36):
    torch.manual_seed(30)
    net = SpliceNet(make_normalizer=normalizer)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for step, (bases, sites) in zip(range(1, steps + 1), transcripts()):
        loss = functional.cross_entropy(net(bases).flatten(0, 1), sites.flatten(), torch.tensor([0.3, 1.0, 1.0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 9 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
