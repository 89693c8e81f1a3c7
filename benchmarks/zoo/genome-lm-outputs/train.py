import torch
from kmers import reads
from modeling_kmer import KmerForCausalLM
from trainer import Trainer


def main(trainer_class=Trainer):
    torch.manual_seed(6)
    model = KmerForCausalLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    trainer_class(model, optimizer, reads()).train()


if __name__ == "__main__":
    main()
