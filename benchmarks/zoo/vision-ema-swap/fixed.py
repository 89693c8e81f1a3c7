from algorithms import WeightAverage
from train import main


class SwappingAverage(WeightAverage):
    def eval_end(self, state):
        state.model.load_state_dict(self.training_weights.pop(state.batch))


if __name__ == "__main__":
    main(SwappingAverage())
