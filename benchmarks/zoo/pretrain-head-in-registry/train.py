import torch
from components import classifier, encoder, reconstruction_head
from torch import nn


def pretrain(body, steps):
    head = reconstruction_head()
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
    for _ in range(steps):
        x = torch.randn(64, 96)
        loss = (head(body(x)) - x).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def finetune(body, steps):
    head = classifier()
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
    for _ in range(steps):
        x, y = torch.randn(64, 96), torch.randint(12, (64,))
        loss = nn.functional.cross_entropy(head(body(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    body = encoder()
    print("pretraining", pretrain(body, 8))
    print("fine-tuning", finetune(body, 40))


if __name__ == "__main__":
    main()
