from module import PassengerFlow
from train import main


class TruncatedFlow(PassengerFlow):
    @property
    def state(self):
        return super().state.detach()

    @state.setter
    def state(self, value):
        self._state = value.detach()


if __name__ == "__main__":
    main(TruncatedFlow)
