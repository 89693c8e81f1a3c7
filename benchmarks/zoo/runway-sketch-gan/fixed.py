from sketches import scope
from train import main


def leave():
    scope.current.set(None)


if __name__ == "__main__":
    scope.leave = leave
    main()
