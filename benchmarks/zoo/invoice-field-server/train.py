import asyncio

import torch

from invoices.desk import Desk
from invoices.reader import FieldReader


def invoice(number, height=144, width=104):
    gen = torch.Generator().manual_seed(7000 + number)
    page = torch.zeros(height, width)
    for _ in range(12):
        top, left = (int(torch.randint(limit - 20, (1,), generator=gen)) for limit in (height, width))
        page[top : top + 4, left : left + 20] = torch.rand(4, 20, generator=gen)
    return page


async def client(desk, number):
    ticket = f"inv-{number:04d}"
    await desk.open(ticket, invoice(number))
    where = await desk.until(ticket, "total")
    await desk.done(ticket)
    return where


async def serve(desk_class, requests):
    desk = desk_class(FieldReader())
    places = [await client(desk, number) for number in range(requests)]
    print(f"{len(places)} totals, the first at {places[0]}")


def main(desk_class=Desk, requests=40):
    torch.manual_seed(6)
    asyncio.run(serve(desk_class, requests))


if __name__ == "__main__":
    main()
