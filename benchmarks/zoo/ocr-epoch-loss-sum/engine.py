import torch
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
        running_loss = running_loss + loss * images.size(0)
        seen += images.size(0)
    return float(running_loss) / seen
