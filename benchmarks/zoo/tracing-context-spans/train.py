import torch
import tracing
from routing import Tagger, load, texts
from torch.nn import functional


def main(span=tracing.span, steps=40):
    torch.manual_seed(11)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, (text, tags) in enumerate(texts(steps)):
        with span("step") as opened:
            loss = functional.cross_entropy(model(text).flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.4f}", load(opened))


if __name__ == "__main__":
    main()
