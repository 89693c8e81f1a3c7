from train import main


def lean_scorer(net):
    scores = None
    while True:
        profiles = yield scores
        scores = None
        scores = net(profiles)


if __name__ == "__main__":
    main(lean_scorer)
