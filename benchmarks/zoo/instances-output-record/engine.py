import logging

import torch

logger = logging.getLogger("instances")


def scenes(count, batch=2, size=96, instances=3):
    generator = torch.Generator().manual_seed(3)
    for _ in range(count):
        labels = torch.randint(6, (batch, instances), generator=generator)
        masks = torch.zeros(batch, instances, size, size)
        corners = torch.randint(0, size // 2, (batch, instances, 2), generator=generator)
        for b in range(batch):
            for i, (y, x) in enumerate(corners[b].tolist()):
                masks[b, i, y : y + size // 2, x : x + size // 2] = 1
        images = (masks * (labels + 1)[..., None, None]).sum(1, keepdim=True).repeat(1, 3, 1, 1) / 10
        yield images + 0.1 * torch.randn(images.shape, generator=generator), masks, labels


def train_one_epoch(model, criterion, optimizer, batches, described=False):
    total = steps = 0
    for images, masks, labels in batches:
        output = model(images)
        if not described:
            logger.info("outputs %s", output.shapes())
            described = True
        loss = criterion(
            output.masks_queries_logits, output.upsampled_masks, output.class_queries_logits, masks, labels
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        steps += 1
    return total / steps
