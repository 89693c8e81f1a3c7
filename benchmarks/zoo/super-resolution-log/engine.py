import torch


class Engine:
    def __init__(self, model, criterion, lr=1e-3):
        self.model, self.criterion = model, criterion
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.handlers = []

    def on(self, every):
        def attach(handler):
            self.handlers.append((every, handler))
            return handler

        return attach

    def step(self, small, large):
        self.optimizer.zero_grad()
        self.criterion(self.model(small), large).backward()
        self.optimizer.step()

    def run(self, batches, steps):
        for number, batch in zip(range(1, steps + 1), batches):
            self.step(*batch)
            for every, handler in self.handlers:
                if number % every == 0:
                    handler(number)
