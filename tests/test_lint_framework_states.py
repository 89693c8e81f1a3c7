"""What lint knows of the state that frameworks hand to callbacks, handlers and criteria."""

from __future__ import annotations

import pytest

from told import rules

COMPOSER = """
    from composer.core import Callback, State

    class Smooth(Callback):
        def __init__(self):
            self.value, self.seen = 0.0, []
        def {event}(self, state: State, logger):
            {kept}
"""


@pytest.mark.parametrize(
    ("event", "kept", "found"),
    [
        ("after_backward", "self.value = 0.9 * self.value + 0.1 * state.loss", ["TN101"]),
        ("after_backward", "self.value = 0.9 * self.value + 0.1 * state.loss.detach()", []),
        ("after_forward", "self.seen.append(state.outputs)", ["TN107"]),
        ("after_forward", "self.seen = [state.outputs.detach()]", []),
        ("eval_batch_end", "self.seen.append(state.outputs)", ["TN202"]),
        ("batch_end", "self.seen.append(state.timestamp)", []),
    ],
)
def test_composer_s_state_has_outputs_and_a_loss_with_their_graphs(event: str, kept: str, found: list[str]) -> None:
    assert rules(COMPOSER.format(event=event, kept=kept)) == found


IGNITE = """
    import torch
    from ignite.engine import Engine, Events
    def build(model, optimizer):
        def step(engine, batch):
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            return {{"rows": model(batch), "loss": loss.item()}}
        return Engine(step)
    def main(model, optimizer, loader):
        trainer, rows = build(model, optimizer), []
        @trainer.on(Events.{event})
        def collect(engine):
            rows.append(engine.state.output["{key}"])
        trainer.run(loader, max_epochs=5)
"""


@pytest.mark.parametrize(
    ("event", "key", "found"),
    [
        ("ITERATION_COMPLETED", "rows", ["TN107"]),
        ("ITERATION_COMPLETED(every=10)", "rows", ["TN107"]),
        ("COMPLETED", "rows", []),
        ("ITERATION_COMPLETED", "loss", []),
    ],
)
def test_ignite_s_output_is_what_the_process_function_gives(event: str, key: str, found: list[str]) -> None:
    assert rules(IGNITE.format(event=event, key=key)) == found


FAIRSEQ = """
    import torch.nn.functional as F
    from fairseq.criterions import FairseqCriterion, register_criterion

    @register_criterion("kd")
    class Criterion(FairseqCriterion):
        def forward(self, model, sample, reduce=True):
            scores = model.get_normalized_probs(model(**sample["net_input"]), log_probs=True)
            loss = F.nll_loss(scores, sample["target"], reduction="sum")
            logged = {{"loss": {logged}, "ntokens": sample["ntokens"]}}
            return loss, sample["ntokens"], logged
"""


@pytest.mark.parametrize(("logged", "found"), [("loss", ["TN101"]), ("loss.data", []), ("loss.item()", [])])
def test_what_a_criterion_logs_is_kept_until_the_next_log(logged: str, found: list[str]) -> None:
    assert rules(FAIRSEQ.format(logged=logged)) == found


ROLLOUTS = """
    import torch
    from stable_baselines3.common.callbacks import BaseCallback

    class Archive(BaseCallback):
        def __init__(self):
            super().__init__()
            self.rows = {{}}
        def _on_step(self):
            {kept}
            return True
"""


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ('self.rows[self.num_timesteps] = self.locals["obs_tensor"].clone()', ["TN202"]),
        ('self.rows[self.num_timesteps] = self.locals["infos"]', []),
        ('self.rows = {0: self.locals["obs_tensor"]}', []),
    ],
)
def test_a_rollout_s_local_variables_are_tensors(kept: str, found: list[str]) -> None:
    assert rules(ROLLOUTS.format(kept=kept)) == found
