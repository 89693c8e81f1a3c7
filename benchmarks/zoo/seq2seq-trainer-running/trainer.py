from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy


@dataclass
class TrainingArguments:
    max_steps: int = 48
    logging_steps: int = 12
    learning_rate: float = 2e-3
    label_smoothing: float = 0.1


@dataclass
class TrainerState:
    global_step: int = 0
    logged: float = 0.0


class SmoothedLoss:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def __call__(self, logits, labels):
        return cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=self.epsilon)


class Trainer:
    def __init__(self, model, args, batches):
        self.model, self.args, self.batches = model, args, batches
        self.state = TrainerState()
        self.criterion = SmoothedLoss(args.label_smoothing)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)

    def compute_loss(self, batch):
        logits, spread = self.model(batch["source"], batch["target"][:, :-1])
        return self.criterion(logits, batch["target"][:, 1:]), spread

    def training_step(self, batch):
        """Trains on a batch; gives back the loss as it is reported, the attention's spread included."""
        self.model.train()
        loss, spread = self.compute_loss(batch)
        loss.backward()
        return loss + 0.01 * spread

    def log(self, tr_loss):
        value = tr_loss.item()
        print({"loss": round((value - self.state.logged) / self.args.logging_steps, 4), "step": self.state.global_step})
        self.state.logged = value

    def train(self):
        tr_loss = torch.tensor(0.0)
        for batch in self.batches(self.args.max_steps):
            tr_loss = tr_loss + self.training_step(batch)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.state.global_step += 1
            if self.state.global_step % self.args.logging_steps == 0:
                self.log(tr_loss)
        return tr_loss.item() / self.state.global_step
