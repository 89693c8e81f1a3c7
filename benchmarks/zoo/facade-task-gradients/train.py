import torch
from journal import EpochJournal
from module import FacadeParser, FacadeTask


def photographs(count=12, batch=6, size=32):
    generator = torch.Generator().manual_seed(41)
    for _ in range(count):
        image = torch.rand(batch, 3, size, size, generator=generator)
        yield {
            "image": image,
            "mask": (image.mean(1, keepdim=True) > 0.5).float(),
            "height": image[:, 0].mean((1, 2)) * 3,
            "material": torch.randint(5, (batch,), generator=generator),
        }


def fit(task, epochs, make_loader):
    for epoch in range(epochs):
        task.on_epoch_start(epoch)
        for batch in make_loader():
            task.training_step(batch)
        task.on_epoch_end()


def main(journal_class=EpochJournal):
    torch.manual_seed(40)
    fit(FacadeTask(FacadeParser(), journal_class), epochs=4, make_loader=photographs)


if __name__ == "__main__":
    main()
