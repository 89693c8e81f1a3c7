from train import after_epoch, main


def after_epoch_reset(number, means, metrics):
    after_epoch(number, means, metrics)
    metrics.reset()


if __name__ == "__main__":
    main(after_epoch_reset)
