from collections import deque

import torch
import torch.nn.functional as F

from traces.machine import Broken


class Runner:
    def __init__(self, model, machine):
        self.model = model
        self.machine = machine
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.window = deque(maxlen=4)
        self.complaints = 0
        self.last_complaint = ""

    def batch(self):
        while True:
            try:
                return self.machine.draw()
            except Broken as problem:
                self.complaints += 1
                self.last_complaint = str(problem)

    def step(self, number):
        traces = self.batch()
        noisy = traces + 0.3 * torch.randn_like(traces)
        cleaned = self.model(noisy)
        loss = F.mse_loss(cleaned, traces)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if number % 2 == 0:
            self.window.append(cleaned[0].detach().clone())
        return loss.item()
