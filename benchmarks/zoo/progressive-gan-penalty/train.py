import torch
from nets import Stage
from penalty import SlopePenalty


def main(penalty=SlopePenalty, steps=30, batch=8):
    torch.manual_seed(23)
    stage = Stage(penalty())
    for step in range(steps):
        real = torch.rand(batch, 3, 24, 24).round() * 2 - 1
        critic = stage.critic_step(real, torch.randn(batch, 16))
        maker = stage.maker_step(torch.randn(batch, 16))
        if step % 6 == 0:
            print(f"{step:3d} critic {critic:.3f} maker {maker:.3f}")


if __name__ == "__main__":
    main()
