from offload import HalfStore
from train import main


class EmptyingStore(HalfStore):
    def fetch(self, ticket):
        return self.slots.pop(ticket)


if __name__ == "__main__":
    main(EmptyingStore)
