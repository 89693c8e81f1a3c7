from meters import Dashboard, UpdateMeter
from train import main


class NetworkMeter(UpdateMeter):
    """Asks the network for its weights each time instead of keeping them."""

    def __init__(self, network, smoothing=0.9):
        super().__init__((), smoothing)
        self.network = network

    @property
    def parameters(self):
        return list(self.network.parameters())

    @parameters.setter
    def parameters(self, value):
        pass


class NetworkDashboard(Dashboard):
    def follow(self, name, network):
        self.lines[name] = NetworkMeter(network)
        return self.lines[name]


if __name__ == "__main__":
    main(NetworkDashboard)
