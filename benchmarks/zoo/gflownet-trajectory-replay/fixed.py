from replay import Replay
from train import main


class RecentReplay(Replay):
    def __init__(self):
        super().__init__(capacity=8)

    def push(self, trajectory):
        super().push(trajectory._replace(flow_logits=trajectory.flow_logits.detach()))


if __name__ == "__main__":
    main(RecentReplay())
