import torch
from hospital import RiskTask
from persample import PerSampleNorms


def main(make_norms=PerSampleNorms, steps=36):
    torch.manual_seed(2)
    task = RiskTask()
    norms = make_norms(task.model)
    for step in range(steps):
        loss = task.training_step()
        spread = task.uncertainty()
        if step % 6 == 0:
            print(step, f"loss {loss:.4f} spread {spread:.4f} clip {norms.largest():.4f}")


if __name__ == "__main__":
    main()
