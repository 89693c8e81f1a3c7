class Handover:
    """The moment of an episode from which the learner steers; it comes earlier with every stage."""

    def __init__(self, horizon, stages, every):
        self.horizon, self.stages, self.every = horizon, stages, every
        self.episode = 0

    def __call__(self):
        stage = min(self.episode // self.every, self.stages)
        return (self.horizon - 2) * (self.stages - stage) // self.stages

    def advance(self):
        self.episode += 1


def play(world, act, horizon):
    observation, total = world.reset(), 0.0
    for moment in range(horizon):
        observation, reward = world.step(act(observation, moment))
        total = total + reward
    return total.mean() / horizon
