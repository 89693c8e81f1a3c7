import torch
from engine import train_epoch
from recognizer import LineRecognizer, lines


def main(epochs=1, batches_per_epoch=60):
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(3)
    model = LineRecognizer()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        loss = train_epoch(model, lines(batches_per_epoch, generator), optimizer)
        print(f"epoch {epoch}: {loss:.4f}")


if __name__ == "__main__":
    main()
