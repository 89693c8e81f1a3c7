import torch
from catalogue import Silhouettes, loader
from hardness import HardnessTable, Tempered
from loop import Loop, network


def main(table=HardnessTable):
    torch.manual_seed(81)
    dataset = Silhouettes()
    hardness = table(len(dataset))
    loop = Loop(network())
    loop.on_batch(Tempered(hardness))
    losses = loop.fit(loader(dataset, hardness))
    for start in range(0, len(losses), 11):
        print(f"batches {start}-{start + 10}: {sum(losses[start : start + 11]) / 11:.4f}")
    print("hardest:", hardness.hardest())


if __name__ == "__main__":
    main()
