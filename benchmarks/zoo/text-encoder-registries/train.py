import torch
from components import build
from prompts import PromptProcessor
from torch.nn import functional


def pictures(names, steps, batch=16, pixels=192):
    generator = torch.Generator().manual_seed(82)
    looks = torch.randn(len(names), pixels, generator=generator)
    for step in range(steps):
        which = step % len(names)
        yield names[which], looks[which] + 0.1 * torch.randn(batch, pixels, generator=generator)


def main(processor_class=PromptProcessor, steps=40):
    components = build()
    processor = processor_class(components)
    prompts = {f"prompt {number}": torch.randint(900, (1, 8 + number)) for number in range(6)}
    processor.prepare(prompts)
    print("text encoder unloaded:", processor.unload(), sorted(components))

    optimizer = torch.optim.AdamW(components.denoiser.parameters(), lr=2e-3)
    for step, (name, clean) in enumerate(pictures(list(prompts), steps)):
        noise = torch.randn_like(clean)
        found = components.denoiser(clean + noise, processor[name].expand(len(clean), -1))
        loss = functional.mse_loss(found, noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
