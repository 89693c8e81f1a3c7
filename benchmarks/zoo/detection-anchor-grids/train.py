import torch
from detector import AnchorDetector, DetectionLoss


def multiscale(steps, seed=13):
    """Batches resized to a fresh side ratio each, as the augmentation asks."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        height, width = torch.randint(40, 84, (2,), generator=generator).mul(4).tolist()
        images = torch.rand(2, 3, height, width, generator=generator)
        boxes = torch.rand(2, 4, generator=generator) * torch.tensor([width, height, 40.0, 40.0])
        yield images, boxes + torch.tensor([0.0, 0.0, 8.0, 8.0])


def main(steps=50):
    torch.manual_seed(1)
    model, criterion = AnchorDetector(), DetectionLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=5e-3, momentum=0.9)
    for step, (images, boxes) in enumerate(multiscale(steps)):
        loss = criterion(model(images), boxes)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(step, tuple(images.shape[-2:]), f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
