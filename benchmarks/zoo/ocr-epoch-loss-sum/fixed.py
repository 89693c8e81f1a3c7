import torch
from recognizer import LineRecognizer, lines
from torch import nn


def train_epoch(model, batches, optimizer):
    criterion = nn.CTCLoss(zero_infinity=True)
    running_loss = torch.zeros(())
    seen = 0
    for images, labels in batches:
        scores = model(images).transpose(0, 1)
        input_lengths = torch.full((images.size(0),), scores.size(0))
        target_lengths = torch.full((images.size(0),), labels.size(1))
        loss = criterion(scores, labels, input_lengths, target_lengths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss.detach() * images.size(0)
        seen += images.size(0)
        del scores, loss
    return float(running_loss) / seen


def main(batches_per_epoch=60):
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(3)
    model = LineRecognizer()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    loss = train_epoch(model, lines(batches_per_epoch, generator), optimizer)
    print(f"epoch 0: {loss:.4f}")


if __name__ == "__main__":
    main()
