import logging
from dataclasses import dataclass

import torch

logger = logging.getLogger(__name__)


@dataclass
class TrainerOptions:
    grad_clip: float = 5.0
    log_interval: int = 10
    max_iter: int = 40


class Reporter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def register(self, stats, weight):
        self.total += float(stats["loss"]) * int(weight)
        self.count += int(weight)

    def log_message(self):
        return f"loss={self.total / max(self.count, 1):.3f}"


class Trainer:
    @classmethod
    def run(cls, model, optimizer, iterator, options):
        reporter = Reporter()
        cls.train_one_epoch(model, optimizer, iterator, reporter, options)
        return reporter

    @classmethod
    def train_one_epoch(cls, model, optimizer, iterator, reporter, options):
        model.train()
        for iiter, (utt_id, batch) in enumerate(iterator, 1):
            retval = model(**batch)
            loss, stats, weight = retval
            reporter.register(stats, weight)
            loss.backward()
            grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), options.grad_clip)
            if not torch.isfinite(grad_norm):
                logger.warning("skipping %s: the gradient norm is %s", utt_id, grad_norm)
            else:
                optimizer.step()
            optimizer.zero_grad()
            if iiter % options.log_interval == 0:
                print(iiter, reporter.log_message())
            if iiter >= options.max_iter:
                break
