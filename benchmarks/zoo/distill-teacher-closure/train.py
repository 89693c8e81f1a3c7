import gc

import torch
from losses import make_distillation_loss
from nets import build_student, build_teacher

WARM_STEPS = 5


def main(steps=40):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(2)
    teacher = build_teacher().eval().requires_grad_(False)
    student = build_student()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
    criterion = make_distillation_loss(teacher, until_step=WARM_STEPS)
    for step in range(steps):
        if step == WARM_STEPS:
            del teacher
            gc.collect()
        x = torch.randn(32, 128, generator=generator)
        labels = torch.randint(10, (32,), generator=generator)
        loss = criterion(step, x, student(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.3f}")


if __name__ == "__main__":
    main()
