import torch
from job import Job


class RunningMetrics:
    def __init__(self):
        self.total = torch.zeros(())
        self.largest = torch.zeros(())
        self.step = 0

    def after_step(self, loss):
        self.step += 1
        self.total += loss.detach()
        torch.maximum(self.largest, loss.detach(), out=self.largest)

    def flush(self):
        print(f"step {self.step} avg {self.total.item() / self.step:.4f} max {self.largest.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(5)
    job = Job(RunningMetrics())
    job.run()
    job.metrics.flush()
