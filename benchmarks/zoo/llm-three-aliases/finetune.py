from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class Arguments:
    max_train_steps: int = 30
    per_device_batch_size: int = 4
    max_seq_length: int = 48
    learning_rate: float = 5e-4
    logging_steps: int = 10


def collate(args, vocab_size, generator):
    ids = torch.randint(vocab_size, (args.per_device_batch_size, args.max_seq_length), generator=generator)
    return {"input_ids": ids, "labels": ids.clone()}


def train(model, args):
    generator = torch.Generator().manual_seed(11)
    vocab_size = model.lm_head.out_features
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    total = 0.0
    for step in range(1, args.max_train_steps + 1):
        batch = collate(args, vocab_size, generator)
        labels = batch.pop("labels")
        outputs = model(**batch)
        logits = outputs.logits
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = labels[..., 1:].contiguous()
        loss = F.cross_entropy(shift_logits.view(-1, vocab_size), shift_labels.view(-1), reduction="sum")
        loss = loss / shift_labels.numel()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        total += loss.item()
        if step % args.logging_steps == 0:
            print(f"step {step} loss {total / args.logging_steps:.3f}")
            total = 0.0
