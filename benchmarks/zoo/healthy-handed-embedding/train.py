import torch
from clauses import clauses
from handover import Office
from networks import Counsel
from torch.nn import functional


def fit(network, source, steps, lr):
    optimizer = torch.optim.SGD([p for p in network.parameters() if p.requires_grad], lr=lr)
    for step in range(steps):
        tokens, kinds = next(source)
        loss = functional.cross_entropy(network(tokens), kinds)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 8 == 0:
            print(f"{type(network).__name__} {step:2d} {loss.item():.4f}")


def main():
    torch.manual_seed(44)
    source = clauses()
    office = Office(Counsel())
    fit(office.counsel, source, steps=12, lr=0.1)
    fit(office.retire_counsel(), source, steps=36, lr=0.2)
    print(office.words_known(), "words")


if __name__ == "__main__":
    main()
