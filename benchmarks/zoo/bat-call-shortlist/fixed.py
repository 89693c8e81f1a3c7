from shortlist import Shortlist
from train import main


class NumbersShortlist(Shortlist):
    def offer(self, clips, scores):
        super().offer(clips, scores.detach())


if __name__ == "__main__":
    main(NumbersShortlist)
