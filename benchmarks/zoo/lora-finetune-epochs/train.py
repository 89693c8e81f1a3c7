import torch
from adapters import Instructed
from finetune import make_training_function

CONFIG = {"lr": 5e-3, "num_epochs": 3, "batches": 18}


def instructions(count, batch=8, length=32, vocab=300):
    generator = torch.Generator().manual_seed(139)
    for _ in range(count):
        tokens = torch.randint(vocab, (batch, length + 1), generator=generator)
        yield {"input_ids": tokens[:, :-1], "labels": tokens[:, 1:]}


def print_epoch(epoch, loss, balance):
    print(f"epoch {epoch} loss {loss:.4f} balance {balance:.4f}")


def main(make_training_function=make_training_function):
    torch.manual_seed(140)
    make_training_function(CONFIG, Instructed(), instructions, print_epoch)()


if __name__ == "__main__":
    main()
