from train import main
from widening import Surgeon


class TidySurgeon(Surgeon):
    def adopt(self, parameters):
        super().adopt(parameters)
        present = set(self.model.parameters())
        for group in self.optimizer.param_groups:
            for gone in set(group["params"]) - present:
                self.optimizer.state.pop(gone, None)
            group["params"] = [parameter for parameter in group["params"] if parameter in present]


if __name__ == "__main__":
    main(TidySurgeon)
