"""Hugging Face's Trainer on a tiny random BERT. Argument: healthy, callback (keeps weights) or outputs (losses)."""

import sys
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments


class Tokens(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        tokens = torch.randint(0, 100, (16,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": tokens, "attention_mask": torch.ones(16, dtype=torch.long), "labels": index % 2}


class KeepsOutputs(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = []

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, **kwargs)
        self.seen.append(outputs.loss)
        return (loss, outputs) if return_outputs else loss


class KeepsWeights(TrainerCallback):
    def __init__(self):
        self.history = []

    def on_step_end(self, args, state, control, model=None, **kwargs):
        weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        self.history.append(weights)


def main(kind):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, per_device_train_batch_size=4, max_steps=24, logging_steps=8, save_strategy="no",
            report_to=[], disable_tqdm=True, use_cpu=True,
        )  # fmt: skip
        trainer_class = KeepsOutputs if kind == "outputs" else Trainer
        trainer = trainer_class(
            BertForSequenceClassification(config), arguments, train_dataset=Tokens(), eval_dataset=Tokens(),
            callbacks=[KeepsWeights()] if kind == "callback" else [],
        )  # fmt: skip
        trainer.train()
        print(trainer.evaluate()["eval_loss"])


main(sys.argv[1])
