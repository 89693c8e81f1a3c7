"""States that are computed from their last value through variables."""

from __future__ import annotations

import pytest

from told import rules

STATES = """
    import torch
    from torch import nn
    class Sessions(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.states = nn.GRUCell(8, 8), {{}}
        def step(self, users, clicks):
            previous = torch.stack([self.states.get(user, torch.zeros(8)) for user in users])
            hidden = self.cell(clicks, {given})
            for user, state in zip(users, hidden):
                self.states[user] = {kept}
            return hidden
    def main(stream):
        model = Sessions()
        optimizer = torch.optim.SGD(model.parameters())
        for users, clicks in stream:
            loss = model.step(users, clicks).square().mean()
            optimizer.zero_grad()
            loss.backward({retain})
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "kept", "retain", "found"),
    [
        ("previous", "state", "retain_graph=True", ["TN105"]),
        ("previous.detach()", "state.detach().clone()", "", []),
        ("previous", "state.detach().clone()", "", []),
    ],
)
def test_a_state_is_carried_through_the_variables_of_a_step(
    given: str, kept: str, retain: str, found: list[str]
) -> None:
    assert rules(STATES.format(given=given, kept=kept, retain=retain)) == found


BUFFER = """
    import torch
    class Buffer:
        def __init__(self, limit):
            self.rows, self.limit = [], limit
        def append(self, row):
            self.rows.append(row)
            self.rows = self.rows[-self.limit:]
    def main(model, loader, optimizer):
        buffer = Buffer(8)
        for x in loader:
            out = model(x)
            loss = out.mean()
            loss.backward(retain_graph=True)
            optimizer.step()
            buffer.append(out.detach())
"""


def test_a_list_that_is_shortened_carries_nothing_on() -> None:
    assert rules(BUFFER) == []


def test_what_is_read_from_a_table_after_it_was_filled_does_not_lead_into_it() -> None:
    cache = """
    import torch
    def keys_of(block, key, text, project, loss):
        if key not in block.cache:
            made = project(text)
            block.cache[key] = made
        made = block.cache[key]
        loss.backward(retain_graph=True)
        return made
    """
    assert rules(cache) == []


SEGMENTS = """
    import torch
    from torch import nn
    def train(model, segments, optimizer):
        mems = None
        for tokens, targets in segments:
            out = model(tokens, mems={given})
            mems = out.mems{cut}
            loss = nn.functional.cross_entropy(out.logits, targets)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "cut", "found"), [("mems", "", ["TN105"]), ("mems", ".detach()", []), ("None", "", [])]
)
def test_a_variable_that_comes_round_to_itself_is_a_state(given: str, cut: str, found: list[str]) -> None:
    assert rules(SEGMENTS.format(given=given, cut=cut)) == found


MEANS = """
    import torch
    from torch import nn
    class Target:
        def __init__(self):
            self.means = [torch.zeros(8) for _ in range(2)]
        def follow(self, view, features):
            old = self.means[view]
            self.means[view] = 0.9 * old + 0.1 * features.mean(0){cut}
    def main(loader):
        encoder, target = nn.Linear(8, 8), Target()
        for view, x in loader:
            features = encoder(x)
            loss = features.square().mean()
            loss.backward()
            target.follow(view, features)
"""


@pytest.mark.parametrize(("cut", "found"), [("", ["TN101"]), (".detach()", [])])
def test_means_that_are_followed_by_place_keep_their_graphs(cut: str, found: list[str]) -> None:
    assert rules(MEANS.format(cut=cut)) == found


PROMPTS = """
    import torch
    class Unguided:
        def __init__(self, model):
            self.model, self.context = model, {{"attended": None, "{key}": None}}
        def __call__(self, ids):
            out = self.model(ids, given=self.context["{key}"])
            self.context["{key}"] = out.get("{key}", None)
            return out.logits
    def main(model, loader, optimizer):
        unguided = Unguided(model)
        for ids in loader:
            loss = unguided(ids).mean()
            loss.backward(retain_graph=True)
            optimizer.step()
"""


@pytest.mark.parametrize(("key", "found"), [("state", ["TN105"]), ("cache", []), ("past_key_values", [])])
def test_what_a_generation_keeps_of_its_tokens_is_known_by_its_key(key: str, found: list[str]) -> None:
    assert rules(PROMPTS.format(key=key)) == found
