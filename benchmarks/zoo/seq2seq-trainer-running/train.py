import torch
from seq2seq import Seq2Seq, sentence_pairs
from trainer import Trainer, TrainingArguments


def main(trainer_class=Trainer):
    torch.manual_seed(62)
    trainer = trainer_class(Seq2Seq(), TrainingArguments(), sentence_pairs)
    print(f"mean {trainer.train():.4f}")


if __name__ == "__main__":
    main()
