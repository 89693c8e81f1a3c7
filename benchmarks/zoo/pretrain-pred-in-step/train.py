import torch
from model import Decoder, packed_documents
from trainer import JobConfig, Trainer


def main(trainer_class=Trainer):
    torch.manual_seed(42)
    config = JobConfig()
    trainer_class(config, Decoder(), packed_documents(config.batch, config.length)).train()


if __name__ == "__main__":
    main()
