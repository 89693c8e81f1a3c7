import torch
from engine import scenes, train_one_epoch
from segmenter import QuerySegmenter, SetLoss


def main(run_epoch=train_one_epoch, epochs=4, batches=9):
    torch.manual_seed(64)
    model = QuerySegmenter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        mean = run_epoch(model, SetLoss(), optimizer, scenes(batches), described=epoch > 0)
        print(f"epoch {epoch} loss {mean:.4f}")


if __name__ == "__main__":
    main()
