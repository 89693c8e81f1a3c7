from forecast import Slot
from train import main


class EmptiedSlot(Slot):
    def commit(self):
        self.network.load_state_dict(self.incoming)
        self.incoming = {}


if __name__ == "__main__":
    main(EmptiedSlot)
