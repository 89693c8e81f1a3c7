from learner import OnlineLearner
from train import main


class SwappingLearner(OnlineLearner):
    def watch(self, weight):
        live = {id(parameter) for parameter in self.model.parameters()}
        group = self.optimizer.param_groups[0]
        for parameter in group["params"]:
            if id(parameter) not in live:
                self.optimizer.state.pop(parameter, None)
        group["params"] = [parameter for parameter in group["params"] if id(parameter) in live] + [weight]


if __name__ == "__main__":
    main(SwappingLearner)
