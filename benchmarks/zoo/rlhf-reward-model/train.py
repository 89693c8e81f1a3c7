import torch
from models import make_models
from ppo import Config, PolicyTrainer


def prompts(batch=12, length=16):
    generator = torch.Generator().manual_seed(9)
    while True:
        yield torch.randint(200, (batch, length), generator=generator)


def main(trainer_type=PolicyTrainer):
    models = make_models()
    warm = models["reward"](next(prompts()))
    print("judge ready", f"{warm.mean().item():.4f}")
    trainer_type(models, Config()).run(prompts())


if __name__ == "__main__":
    main()
