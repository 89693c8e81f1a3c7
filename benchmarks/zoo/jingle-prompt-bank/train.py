import torch
from composer import Composer, Lessons
from prompts import MOODS, PromptBank, PromptEncoder


def collection(count=320, length=20):
    prompts = torch.randint(MOODS, (count, 10))
    steps = torch.randint(-3, 4, (count, length)) + (prompts[:, :1] % 3 - 1)
    return prompts, (32 + steps.cumsum(1)) % 64


def main(bank_class=PromptBank):
    torch.manual_seed(23)
    prompts, melodies = collection()
    bank = bank_class(PromptEncoder(), prompts)
    Lessons(Composer(), bank, melodies).run()


if __name__ == "__main__":
    main()
