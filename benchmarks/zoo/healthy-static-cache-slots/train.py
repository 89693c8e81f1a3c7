import torch
from cache import SlotCache
from server import Chat, Request, Server


def requests(count=10):
    generator = torch.Generator().manual_seed(101)
    for number in range(count):
        length = int(torch.randint(10, 80, (), generator=generator))
        yield Request(number, torch.randint(300, (length,), generator=generator), 4 + number % 4)


def main():
    torch.manual_seed(102)
    server = Server(Chat(), SlotCache(layers=3, slots=2, length=128, dim=96), slots=2)
    for request in requests():
        reply = server.answer(request)
        print(request.number, len(request.prompt), reply)


if __name__ == "__main__":
    main()
