import torch
from gan import Duel
from league import League


def main(steps=84):
    torch.manual_seed(1)
    duel, league = Duel(), League()
    basis = torch.randn(6, 784)
    for step in range(steps):
        real = torch.tanh(torch.randn(48, 6) @ basis / 2)
        d = duel.critic_step(real, league.past)
        g = duel.generator_step(48)
        league.after(step, duel.g)
        if step % 21 == 20:
            print(f"{step + 1} critic {d:.3f} generator {g:.3f} rivals {len(league.past)}")


if __name__ == "__main__":
    main()
