from itertools import islice

import torch
from reader import Reader, Ties, texts
from torch.nn import functional


def pretrain(reader, optimizer, batches):
    for tokens, _ in batches:
        loss = functional.cross_entropy(reader(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def finetune(reader, optimizer, batches):
    for tokens, label in batches:
        loss = functional.cross_entropy(reader(tokens), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main():
    torch.manual_seed(110)
    ties, source = Ties(), texts()
    reader = Reader(ties=ties)
    optimizer = torch.optim.AdamW(reader.parameters(), lr=2e-3)
    losses = list(pretrain(reader, optimizer, islice(source, 16)))
    print(f"words  {losses[0]:.3f} -> {losses[-1]:.3f}")
    optimizer.add_param_group({"params": list(reader.turn_to_judging(4))})
    ties.check()
    losses = list(finetune(reader, optimizer, islice(source, 28)))
    print(f"judged {losses[0]:.3f} -> {losses[-1]:.3f}")
    ties.check()


if __name__ == "__main__":
    main()
