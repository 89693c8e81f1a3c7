from ppo import PolicyTrainer
from train import main


class RuleTrainer(PolicyTrainer):
    def __init__(self, models, config):
        super().__init__(models, config)
        if config.reward_source != "model":
            self.reward_model = None
            del models["reward"]


if __name__ == "__main__":
    main(RuleTrainer)
