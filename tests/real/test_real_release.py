"""Models and pipelines as people unload them, built from tiny random configurations: nothing is downloaded."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import nn

import tenure

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def need(*names: str) -> None:
    for name in names:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed; `pip install -e .[real]` brings it")


def bytes_of(module: nn.Module) -> int:
    unique = {item.data_ptr(): item for item in (*module.parameters(), *module.buffers())}
    return sum(item.untyped_storage().nbytes() for item in unique.values())


def text_encoder() -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel

    config = CLIPTextConfig(
        vocab_size=1000, hidden_size=32, intermediate_size=37, num_hidden_layers=3, num_attention_heads=4,
        bos_token_id=0, eos_token_id=2, pad_token_id=1,
    )  # fmt: skip
    return CLIPTextModel(config).eval()


def pipeline() -> Any:
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel

    unet = UNet2DConditionModel(
        sample_size=8, in_channels=4, out_channels=4, layers_per_block=1, cross_attention_dim=32,
        block_out_channels=(32, 64), down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    vae = AutoencoderKL(
        in_channels=3, out_channels=3, latent_channels=4, block_out_channels=[32, 64],
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
    )  # fmt: skip
    made = StableDiffusionPipeline(
        unet=unet, vae=vae, text_encoder=text_encoder(), tokenizer=None, scheduler=DDIMScheduler(),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip
    made.set_progress_bar_config(disable=True)
    return made


def draw(pipe: Any, embedding: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return pipe(
        prompt_embeds=embedding, negative_prompt_embeds=0 * embedding, num_inference_steps=2,
        output_type="latent", generator=generator,
    ).images  # fmt: skip


def gpt2() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=2, n_positions=64, bos_token_id=0, eos_token_id=1)
    return GPT2LMHeadModel(config)


def test_a_text_encoder_leaves_a_pipeline_that_goes_on_drawing() -> None:
    need("diffusers", "transformers")
    pipe = pipeline()
    blocks = list(pipe.text_encoder.modules())[2:5]
    cache = {"encoder": pipe.text_encoder, "prompt": pipe.text_encoder(torch.ones(1, 7).long())[0].detach()}
    before, expected = draw(pipe, cache["prompt"]), bytes_of(pipe.text_encoder)

    outcome = tenure.release(pipe.text_encoder, pipe, cache, blocks)

    assert (outcome.complete, outcome.freed_bytes, outcome.still_bound) == (True, expected, ())
    assert (pipe.text_encoder, pipe.config["text_encoder"], list(cache), blocks) == (None, (None, None), ["prompt"], [])
    assert torch.equal(draw(pipe, cache["prompt"]), before)


def test_an_embedding_with_its_graph_is_named_and_its_values_suffice() -> None:
    need("diffusers", "transformers")
    pipe = pipeline()
    embedding = pipe.text_encoder(torch.ones(1, 7).long())[0]

    outcome = tenure.release(pipe.text_encoder, pipe)

    (cut,) = {re.sub(r" in test_\w+ \([\w.:]+\)", "", text) for survivor in outcome.survivors for text in survivor.cut}
    assert (outcome.complete, cut) == (False, "`embedding` or keep `embedding.detach()` alone")
    assert draw(pipe, embedding.detach()).shape == (1, 4, 8, 8)


def test_a_whole_pipeline_goes() -> None:
    need("diffusers", "transformers")
    pipe = pipeline()
    draw(pipe, torch.zeros(1, 7, 32))
    parts = (pipe.unet, pipe.vae, pipe.text_encoder)
    expected = sum(bytes_of(part) for part in parts)
    del parts

    outcome = tenure.release(pipe)

    assert (outcome.complete, outcome.still_bound) == (True, ())
    assert outcome.freed_bytes >= expected
    assert (pipe.unet, pipe.vae, pipe.text_encoder) == (None, None, None)


def test_a_trained_unet_goes_with_optimizer_and_averaged_copy() -> None:
    need("diffusers", "transformers")
    from diffusers.training_utils import EMAModel

    pipe = pipeline()
    optimizer = torch.optim.AdamW(pipe.unet.parameters())
    average = EMAModel(pipe.unet.parameters())
    pipe.unet(torch.zeros(1, 4, 8, 8), 1, torch.zeros(1, 7, 32)).sample.sum().backward()
    optimizer.step()
    learned = sum(item.numel() * 4 for item in pipe.unet.parameters() if item.grad is not None)
    steps = 4 * len(optimizer.state)
    expected = 2 * bytes_of(pipe.unet) + 3 * learned + steps

    with pytest.raises(tenure.ReleaseError, match=r"AdamW \(local variable `optimizer` in .*\) trains"):
        tenure.release(pipe.unet, pipe)
    outcome = tenure.release(pipe.unet, optimizer, average, pipe)

    assert (outcome.complete, outcome.freed_bytes, average.shadow_params) == (True, expected, [])


def test_weights_that_accelerate_keeps_in_hooks_go_too() -> None:
    need("accelerate", "transformers")
    from accelerate import cpu_offload

    model = gpt2()
    cpu_offload(model, execution_device=torch.device("cpu"))
    model(torch.ones(1, 5).long())
    weights = model._hf_hook.weights_map if hasattr(model._hf_hook, "weights_map") else None

    outcome = tenure.release(model)

    assert (outcome.complete, outcome.survivors, weights) == (True, (), None)
    assert outcome.freed_bytes >= (300 + 64) * 32 * 4
    assert not [module for module in model.modules() if hasattr(module, "_hf_hook")]


def test_a_skeleton_of_an_offloaded_model_is_loaded_anew() -> None:
    need("accelerate", "transformers")
    from accelerate import cpu_offload

    model = gpt2().eval()
    saved = {key: value.clone() for key, value in model.state_dict().items()}
    before = model(torch.ones(1, 5).long()).logits
    cpu_offload(model, execution_device=torch.device("cpu"))

    outcome = tenure.release(model, to="meta")
    model.load_state_dict(saved, assign=True)

    assert outcome.complete
    assert torch.equal(model(torch.ones(1, 5).long()).logits, before)


def test_a_head_that_is_tied_to_the_released_body_keeps_its_weight() -> None:
    need("transformers")
    model = gpt2()
    tied = 300 * 32 * 4
    expected = bytes_of(model.transformer) - tied

    outcome = tenure.release(model.transformer)

    assert (outcome.complete, outcome.freed_bytes) == (True, expected)
    assert [text.partition(",")[0] for text in outcome.kept] == ["`GPT2Model.wte.weight`"]
    assert model.lm_head(torch.ones(32)).shape == (300,)


def test_a_model_that_generated_and_its_cache_go() -> None:
    need("transformers")
    model = gpt2().eval()
    output = model(torch.ones(1, 5).long(), use_cache=True)
    generated = model.generate(torch.ones(1, 5).long(), max_new_tokens=4, do_sample=False, pad_token_id=1)
    del output

    assert generated.shape[0] == 1
    assert tenure.release(model).complete
    with pytest.raises(tenure.ReleaseError, match="GPT2LMHeadModel was released"):
        model(torch.ones(1, 5).long())


def test_a_module_that_a_lightning_trainer_fitted_goes_with_it() -> None:
    need("lightning")
    import lightning as pl

    class Fit(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Linear(64, 64)

        def training_step(self, batch: torch.Tensor, number: int) -> torch.Tensor:
            return self.net(batch).square().mean()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters())

    fit = Fit()
    trainer = pl.Trainer(
        max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, accelerator="cpu",
    )  # fmt: skip
    trainer.fit(fit, torch.utils.data.DataLoader(torch.ones(8, 64), batch_size=4))

    outcome = tenure.release(fit, *trainer.optimizers)

    assert outcome.complete, str(outcome)
    assert outcome.freed_bytes >= 3 * (64 * 64 + 64) * 4
