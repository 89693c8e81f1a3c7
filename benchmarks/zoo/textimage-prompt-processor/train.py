import random

import torch
from encoders import all_prompts
from pipeline import TextToImage
from processor import PromptProcessor


def main(processor_class=PromptProcessor, steps=40):
    torch.manual_seed(2)
    prompts = all_prompts()
    pipe = TextToImage(processor_class, {word for prompt in prompts for word in prompt.split()})
    print("prompts encoded:", pipe.processor.prepare(prompts))
    pipe.release("text_encoder")

    optimizer = torch.optim.AdamW(pipe.denoiser.parameters(), lr=2e-3)
    chooser, generator = random.Random(4), torch.Generator().manual_seed(5)
    for step in range(steps):
        latents = torch.randn(6, 4, 16, 16, generator=generator)
        loss = pipe.loss(latents, chooser.sample(prompts, 6), generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
