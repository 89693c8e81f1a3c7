from itertools import islice

import torch
from curves import LossCurves
from depth import DepthNet, DepthTerms, rooms


def train_step(model, optimizer, terms_of, curves, images, depth):
    terms = terms_of(model(images), depth)
    optimizer.zero_grad()
    terms_of.total(terms).backward()
    optimizer.step()
    curves.record(terms)


def main(make_curves=LossCurves, steps=50):
    torch.manual_seed(16)
    model, terms_of, curves = DepthNet(), DepthTerms(), make_curves()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, (images, depth) in enumerate(islice(rooms(), steps), 1):
        train_step(model, optimizer, terms_of, curves, images, depth)
        if step % 10 == 0:
            print(step, " ".join(f"{name} {value:.4f}" for name, value in curves.latest().items()))


if __name__ == "__main__":
    main()
