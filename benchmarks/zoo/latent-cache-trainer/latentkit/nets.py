"""Small random networks of the same make as the released ones."""

from diffusers import AutoencoderKL, DDPMScheduler, UNet2DModel


def build_vae():
    return AutoencoderKL(
        in_channels=3,
        out_channels=3,
        latent_channels=4,
        block_out_channels=(64, 128),
        down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
        layers_per_block=1,
        norm_num_groups=8,
        sample_size=32,
    )


def build_unet():
    return UNet2DModel(
        sample_size=16,
        in_channels=4,
        out_channels=4,
        block_out_channels=(32, 64),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
        norm_num_groups=8,
        attention_head_dim=8,
    )


def build_schedule():
    return DDPMScheduler(num_train_timesteps=200)
