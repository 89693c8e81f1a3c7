from engine import logger
from train import main


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
        del output
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        steps += 1
    return total / steps


if __name__ == "__main__":
    main(train_one_epoch)
