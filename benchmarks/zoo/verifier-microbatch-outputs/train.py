import torch
from actor import Actor
from engine import Engine
from rollouts import Rollouts


def main(engine_class=Engine):
    torch.manual_seed(30)
    actor = Actor()
    engine = engine_class(actor, torch.optim.AdamW(actor.parameters(), lr=1e-3))
    rollouts = Rollouts()
    for update in range(3):
        print(update, {name: round(value, 4) for name, value in engine.update(rollouts.micro_batches()).items()})


if __name__ == "__main__":
    main()
