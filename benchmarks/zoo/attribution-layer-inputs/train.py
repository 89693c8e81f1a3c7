import torch
from attribution import ReferenceAttribution
from genomics import BindingModel, Regions


def explain(model, sequences, attribution=ReferenceAttribution):
    with attribution(model) as scorer:
        return scorer.score(sequences)


def main(attribution=ReferenceAttribution, steps=40):
    torch.manual_seed(6)
    model, regions = BindingModel(), Regions()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(steps):
        sequences, affinity = regions.draw()
        loss = torch.nn.functional.huber_loss(model(sequences), affinity)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        value = loss.item()
        del loss
        if step % 10 == 5:
            scores = explain(model, sequences, attribution)
            print(step, f"{value:.4f}", f"top filter {scores.argmax().item()}")


if __name__ == "__main__":
    main()
