import torch
from job import Job, Metrics

if __name__ == "__main__":
    torch.manual_seed(5)
    job = Job(Metrics())
    job.run()
    job.metrics.flush()
