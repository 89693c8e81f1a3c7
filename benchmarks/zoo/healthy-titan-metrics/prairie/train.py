import time

import torch
from torch.nn.functional import cross_entropy

from prairie.components.metrics import ConsoleLogger, MetricsProcessor
from prairie.models.llama import Transformer


class Trainer:
    def __init__(self, steps=40, gradient_accumulation_steps=2, seq_len=64, batch=4):
        torch.manual_seed(11)
        self.steps, self.gradient_accumulation_steps = steps, gradient_accumulation_steps
        self.seq_len, self.batch = seq_len, batch
        self.model_parts = [Transformer()]
        self.optimizers = [torch.optim.AdamW(m.parameters(), lr=3e-4) for m in self.model_parts]
        self.metrics_processor = MetricsProcessor(ConsoleLogger())
        self.step = 0

    def state_dict(self):
        return {"step": self.step}

    def load_state_dict(self, state):
        self.step = state["step"]

    def batch_generator(self):
        generator = torch.Generator().manual_seed(12)
        while True:
            started = time.perf_counter()
            tokens = torch.randint(0, 512, (self.batch, self.seq_len + 1), generator=generator)
            self.metrics_processor.ntokens_since_last_log += tokens.numel()
            self.metrics_processor.data_loading_times.append(time.perf_counter() - started)
            yield {"input": tokens[:, :-1]}, tokens[:, 1:]

    def forward_backward_step(self, input_dict, labels):
        model = self.model_parts[0]
        pred = model(input_dict["input"])
        loss = cross_entropy(pred.flatten(0, 1).float(), labels.flatten())
        del pred
        (loss / self.gradient_accumulation_steps).backward()
        return loss

    def train_step(self, data_iterator):
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        accumulated_losses = []
        for _ in range(self.gradient_accumulation_steps):
            input_dict, labels = next(data_iterator)
            loss = self.forward_backward_step(input_dict, labels)
            accumulated_losses.append(loss.detach())
        grad_norm = torch.nn.utils.clip_grad_norm_(
            [p for m in self.model_parts for p in m.parameters()], 1.0, foreach=True
        )
        for optimizer in self.optimizers:
            optimizer.step()
        loss = torch.sum(torch.stack(accumulated_losses))
        self.metrics_processor.window.append(loss)
        if self.metrics_processor.should_log(self.step):
            self.metrics_processor.log(self.step, loss.item(), grad_norm.item())

    def train(self):
        data_iterator = self.batch_generator()
        while self.step < self.steps:
            self.step += 1
            self.train_step(data_iterator)
