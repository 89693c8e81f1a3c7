import itertools

import torch


def conversations(count, seed=5):
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        turns = [torch.randint(160, (1, 60), generator=generator) for _ in range(2)]
        yield f"client-{number:04d}", turns


def serve(engine, count):
    answered = itertools.count(1)
    for ident, prompts in conversations(count):
        for prompt in prompts:
            reply = engine(ident, prompt)
            number = next(answered)
            if number % 16 == 0:
                print(f"{number} answered, {ident} got {reply}")
        engine.close(ident)
