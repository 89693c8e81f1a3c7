import torch
from transfer import StyleJob


def main(steps=45):
    torch.manual_seed(22)
    job = StyleJob(torch.rand(1, 3, 48, 48), torch.rand(1, 3, 48, 48).round(), memory=5)
    for step in range(steps):
        loss = job.step()
        if step % 9 == 0:
            print(step, f"{loss:.6f}")


if __name__ == "__main__":
    main()
