from collections import defaultdict

from torch.nn import functional


class Trainer:
    def __init__(self, model, optimizer, data, max_steps=30, logging_steps=6):
        self.model, self.optimizer, self.data = model, optimizer, data
        self.max_steps, self.logging_steps = max_steps, logging_steps
        self.totals = defaultdict(float)

    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        guesses = outputs.logits[:, :-1].reshape(-1, outputs.logits.size(-1))
        loss = functional.cross_entropy(guesses, inputs["input_ids"][:, 1:].reshape(-1))
        loss = loss - 0.01 * outputs.gate_entropy
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs):
        loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
        loss.backward()
        self.totals["loss"] += loss.item()
        self.totals["entropy"] += outputs.gate_entropy.item()

    def train(self):
        self.model.train()
        for step in range(1, self.max_steps + 1):
            self.training_step(self.model, next(self.data))
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            if step % self.logging_steps == 0:
                print(
                    {"step": step} | {key: round(total / self.logging_steps, 4) for key, total in self.totals.items()}
                )
                self.totals.clear()
