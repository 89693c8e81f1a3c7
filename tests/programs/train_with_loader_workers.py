"""Two worker processes, shuffled by a generator of their own, augmenting at random."""

import random

import numpy as np
import torch
from fingerprint import digest, print_fingerprint, seed
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        noise = torch.randn(12) + np.random.rand() + random.random()
        return noise + index, index % 3


def seed_worker(worker):
    np.random.seed(torch.initial_seed() % 2**32)
    random.seed(torch.initial_seed())


def main():
    seed()
    generator = torch.Generator().manual_seed(3)
    loader = DataLoader(
        Noisy(), batch_size=8, shuffle=True, num_workers=2, generator=generator, worker_init_fn=seed_worker
    )
    model = nn.Linear(12, 3)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        for inputs, labels in loader:
            loss = nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item(), labels.tolist())
    print_fingerprint(model, optimizers=(optimizer,))
    print("generator", digest(generator.get_state()))


if __name__ == "__main__":
    main()
