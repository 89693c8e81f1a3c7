import torch
from learner import Learner
from model import Continual


def task_data(labels, task, batch=48):
    generator = torch.Generator().manual_seed(task)
    centres = torch.randn(labels, 40, generator=generator)
    while True:
        target = torch.randint(labels, (batch,), generator=generator)
        yield centres[target] + 0.6 * torch.randn(batch, 40, generator=generator), target


def main(learner_type=Learner, tasks=25, steps=2):
    torch.manual_seed(0)
    model = Continual()
    learner = learner_type(model)
    for task in range(tasks):
        if task:
            learner.start_task()
        for _, (rows, target) in zip(range(steps), task_data(model.labels, task)):
            loss = learner.learn(rows, target)
        if task % 5 == 0:
            print("task", task, f"{loss:.4f}")


if __name__ == "__main__":
    main()
