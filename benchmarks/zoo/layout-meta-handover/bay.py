import gc


class ModelBay:
    """Where the networks of the two rounds stand; one is in use, the others are put away."""

    def __init__(self):
        self.slots = {}
        self.rows = []

    def admit(self, name, network):
        self.slots[name] = network
        return network

    def put_away(self, name):
        network = self.slots[name]
        network.requires_grad_(False)
        network.to("meta")
        gc.collect()
        self.rows.append(f"{name} put away")

    def describe(self):
        for name, network in self.slots.items():
            weight = next(network.parameters())
            self.rows.append(f"{name} on {weight.device}")
        return "; ".join(self.rows)
