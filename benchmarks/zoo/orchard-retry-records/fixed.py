from retrying import RetryPolicy
from train import main


class LeanPolicy(RetryPolicy):
    def record(self, size, reason):
        super().record(size, reason.with_traceback(None))


if __name__ == "__main__":
    main(LeanPolicy)
