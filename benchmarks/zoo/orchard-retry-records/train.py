import torch
from orchard import OrchardTrainer, retry_policy, rows
from retrying import RetryPolicy


def main(policy_class=RetryPolicy, steps=44):
    torch.manual_seed(210)
    trainer = OrchardTrainer(retry_policy(policy_class))
    for number, row in enumerate(rows(steps)):
        loss = trainer.step(row)
        if number % 11 == 0:
            print(f"row {number:2d} loss {loss:.3f}; {trainer.policy.summary()}")


if __name__ == "__main__":
    main()
