from learner import Learner
from train import main


class QuietLearner(Learner):
    def gradients(self, losses):
        heard = []
        handle = self.net.mixer.linear.weight.register_hook(lambda gradient: heard.append(gradient.clone()))
        for left, loss in zip(reversed(range(len(losses))), losses.values(), strict=True):
            (self.brake * loss).backward(retain_graph=left > 0)
        handle.remove()
        return heard


if __name__ == "__main__":
    main(QuietLearner)
