from shell import Shell
from train import main


class ForgetfulShell(Shell):
    def remember(self, value):
        if not hasattr(value, "untyped_storage"):
            super().remember(value)


if __name__ == "__main__":
    main(ForgetfulShell)
