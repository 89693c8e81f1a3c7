from invoices.desk import Desk
from train import main


class ClosingDesk(Desk):
    async def done(self, ticket):
        await self.streams.pop(ticket).aclose()


if __name__ == "__main__":
    main(ClosingDesk)
