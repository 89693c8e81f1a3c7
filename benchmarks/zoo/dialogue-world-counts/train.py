import torch
from agents import Scorer, TrainableAgent
from worlds import DialogueWorld, Teacher


class TrainLoop:
    def __init__(self, world_class, steps=36, validate_every=2):
        self.world_class = world_class
        self.steps, self.validate_every = steps, validate_every
        self.agent = TrainableAgent(Scorer())
        self.teacher = Teacher(64, seed=1)

    def validate(self):
        world = self.world_class(Teacher(8, seed=2), self.agent.clone_for_validation())
        answers = torch.stack([world.parley() for _ in range(2)])
        return world.report(), answers.unique().numel()

    def train(self):
        for step in range(self.steps):
            loss = self.agent.learn(self.teacher.act(step))
            if step % self.validate_every == 0:
                report, kinds = self.validate()
                if step % 6 == 0:
                    print(f"{step}: loss {loss:.4f}; validated on {report}, {kinds} different words")


def main(world_class=DialogueWorld):
    torch.manual_seed(0)
    TrainLoop(world_class).train()


if __name__ == "__main__":
    main()
