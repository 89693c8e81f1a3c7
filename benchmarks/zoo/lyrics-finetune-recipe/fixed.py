import torch.nn.functional as F
from recipe import FullFinetune
from train import main


class Tidy(FullFinetune):
    def micro_step(self, batch):
        outputs = self.model(input_ids=batch["tokens"], attention_mask=batch["mask"])
        logits = outputs.logits
        shifted = logits[:, :-1].contiguous()
        labels = batch["labels"][:, 1:].contiguous()
        loss = F.cross_entropy(shifted.view(-1, self.cfg.vocab), labels.view(-1), ignore_index=-100)
        loss = loss / self.cfg.accumulate
        del outputs, logits, shifted
        loss.backward()
        self.seen_tokens += int((labels != -100).sum())
        return loss.item()


if __name__ == "__main__":
    main(Tidy)
