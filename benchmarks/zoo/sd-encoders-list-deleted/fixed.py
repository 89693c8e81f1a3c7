import torch
from dreambooth import encode_prompts
from models import UNet, load_text_encoders


def prepare_prompts():
    text_encoders = [encoder.requires_grad_(False) for encoder in load_text_encoders()]
    return encode_prompts(text_encoders, torch.randint(1200, (16, 12)))


def run(steps=40):
    prompts = prepare_prompts()
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


if __name__ == "__main__":
    torch.manual_seed(0)
    run()
