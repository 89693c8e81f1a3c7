"""Full fine-tuning of a small causal model on song lyrics."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from transformers import GPT2Config, GPT2LMHeadModel


@dataclass
class Settings:
    vocab: int = 8192
    context: int = 112
    batch: int = 4
    accumulate: int = 2
    lr: float = 3e-4
    updates: int = 14
    log_every: int = 7


class FullFinetune:
    def __init__(self, cfg: Settings):
        self.cfg = cfg
        self.model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=cfg.vocab, n_positions=cfg.context, n_embd=64, n_layer=2, n_head=4,
                resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
            )
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.updates)
        self.seen_tokens = 0

    def micro_step(self, batch):
        outputs = self.model(input_ids=batch["tokens"], attention_mask=batch["mask"])
        logits = outputs.logits
        shifted = logits[:, :-1].contiguous()
        labels = batch["labels"][:, 1:].contiguous()
        loss = F.cross_entropy(shifted.view(-1, self.cfg.vocab), labels.view(-1), ignore_index=-100)
        loss = loss / self.cfg.accumulate
        loss.backward()
        self.seen_tokens += int((labels != -100).sum())
        return loss.item()

    def update(self, batches):
        total = 0.0
        for _ in range(self.cfg.accumulate):
            total += self.micro_step(next(batches))
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    def run(self, batches):
        for update in range(1, self.cfg.updates + 1):
            loss = self.update(batches)
            if update % self.cfg.log_every == 0:
                print(f"{update:4d} loss {loss:.3f} tokens {self.seen_tokens}")
