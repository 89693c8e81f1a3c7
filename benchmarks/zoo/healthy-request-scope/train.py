import torch
from service import Service, Translator


def calls(count, seed=9):
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        length = torch.randint(10, 90, (), generator=generator).item()
        yield f"r{number}", torch.randint(180, (8, length), generator=generator)


def main(count=60):
    torch.manual_seed(15)
    service = Service(Translator().eval())
    for number, (ident, tokens) in enumerate(calls(count)):
        with service.request(ident, tokens) as scope:
            said = scope.answer(ident)
        if number % 15 == 0:
            print(ident, said[0])
    print(sum(service.lengths.values()), "served")


if __name__ == "__main__":
    main()
