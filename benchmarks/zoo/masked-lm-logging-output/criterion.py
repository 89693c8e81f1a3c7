import math

import torch
import torch.nn.functional as F


class MaskedLmCriterion:
    """Returns the loss to minimise, the number of predicted tokens, and what to log."""

    def __init__(self, mask=1, pad=0):
        self.mask, self.pad = mask, pad

    def __call__(self, model, sample):
        masked = sample["tokens"].eq(self.mask)
        scores = model(sample["tokens"])
        targets = sample["targets"][masked]
        loss = F.nll_loss(torch.log_softmax(scores[masked], -1), targets, reduction="sum")
        return loss, targets.numel(), self.logging_output(loss, scores, sample)

    def logging_output(self, loss, scores, sample):
        everywhere = F.cross_entropy(scores.flatten(0, 1), sample["targets"].flatten(), ignore_index=self.pad)
        return {"loss": loss.detach(), "full_loss": everywhere, "ntokens": int(sample["tokens"].ne(self.pad).sum())}

    @staticmethod
    def reduce_metrics(outputs):
        tokens = sum(output["ntokens"] for output in outputs)
        full = torch.stack([output["full_loss"] for output in outputs]).mean().item()
        loss = sum(output["loss"].item() for output in outputs) / tokens / math.log(2)
        return f"loss {loss:.3f} full {full / math.log(2):.3f} over {tokens} tokens"
