import gc

import torch
from models import UNet, load_text_encoders


@torch.no_grad()
def encode_prompts(text_encoders, ids):
    return torch.cat([encoder(ids) for encoder in text_encoders], -1)


def run(steps=40):
    text_encoder_one, text_encoder_two, text_encoder_three = load_text_encoders()
    for encoder in (text_encoder_one, text_encoder_two, text_encoder_three):
        encoder.requires_grad_(False)
    text_encoders = [text_encoder_one, text_encoder_two, text_encoder_three]
    prompts = encode_prompts(text_encoders, torch.randint(1200, (16, 12)))
    del text_encoders, encoder
    gc.collect()

    unet = UNet(prompts.size(1))
    optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)
    for step in range(steps):
        noise = torch.randn(16, 64)
        loss = (unet(noise * 0.7, prompts) - noise).abs().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0:
            print(step, loss.item())
