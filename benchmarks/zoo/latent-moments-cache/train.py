import torch
from autoencoder import Autoencoder
from dataset import LatentDataset, photographs


def main(dataset_type=LatentDataset):
    torch.manual_seed(21)
    vae = Autoencoder().eval().requires_grad_(False)
    dataset = dataset_type(photographs(60))
    dataset.cache_latents(vae)
    print(len(dataset), "images cached")


if __name__ == "__main__":
    main()
