import torch


class Session:
    def __init__(self, generator, judge, every):
        self.generator = generator
        self.judge = judge
        self.every = every
        self.verdicts = []
        self.optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)

    def step(self, number):
        tunes = self.generator(torch.randn(20, 24))
        loss = tunes.diff(dim=-1).abs().mean()
        if number % self.every == 0:
            verdict = self.judge(tunes).mean()
            self.verdicts.append(round(verdict.item(), 3))
            loss = loss - verdict
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
