from flow import LatentFlow
from train import main


def prepare_once(model, images):
    latents = LatentFlow.prepare(model, images)
    model.first_stage = None
    return latents


if __name__ == "__main__":
    main(prepare_once)
