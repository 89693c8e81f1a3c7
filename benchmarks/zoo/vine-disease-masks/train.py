import torch
import torch.nn.functional as F
from leaves import LeafNet, vineyard
from sparse import SparseTuner


def tune(model, tuner, optimizer, reflectance, disease):
    logits = model(reflectance)
    loss = F.cross_entropy(logits, disease)
    optimizer.zero_grad()
    tuner.before_backward()
    loss.backward()
    tuner.after_backward()
    optimizer.step()
    return loss.item(), (logits.argmax(1) == disease).float().mean().item()


def main(tuner_class=SparseTuner, rows=46):
    torch.manual_seed(230)
    model = LeafNet()
    tuner = tuner_class(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for row, (reflectance, disease) in enumerate(vineyard(rows), 1):
        loss, right = tune(model, tuner, optimizer, reflectance, disease)
        if row % 10 == 0:
            print(f"row {row} loss {loss:.4f} right {right:.2f}")


if __name__ == "__main__":
    main()
