from train import main


def spectral(frontend):
    def stage(pipe):
        pipe.mels = frontend(pipe.batch.pop("waves"))

    return stage


if __name__ == "__main__":
    main(spectral)
