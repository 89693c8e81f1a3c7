import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load():
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(1500, 1, 28, 28, generator=generator)
    return TensorDataset(images, torch.randint(10, (1500,), generator=generator))


def main():
    torch.manual_seed(0)
    loader = DataLoader(load(), batch_size=50, shuffle=True)
    model = nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(216, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(2):
        correct = 0
        for images, labels in loader:
            logits = model(images)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(1) == labels).sum().item()
        print(epoch, correct / 1500)


if __name__ == "__main__":
    main()
