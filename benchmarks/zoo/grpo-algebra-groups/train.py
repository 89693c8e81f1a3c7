import torch
from algebra import Questions
from grpo import GRPO
from policy import SmallLM


def main(learner_class=GRPO, rounds=20):
    torch.manual_seed(2)
    questions = Questions()
    learner = learner_class(SmallLM(), questions.reward)
    for number in range(rounds):
        group, reward = learner.gather(questions.draw())
        loss = learner.update(group)
        del group
        if number % 4 == 3:
            print(f"round {number + 1:2d} reward {reward:.4f} loss {loss:.4f}")


if __name__ == "__main__":
    main()
