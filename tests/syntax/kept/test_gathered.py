"""What a container gains: tables by keys, rollouts, what objects of one turn collect."""

from __future__ import annotations

import pytest

from told import rules

TABLE = """
    import torch
    from torch import nn
    class Rotary(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = {{}}
        def forward(self, q):
            length = q.shape[-2]
            {look}
            return q * cos + sin
    def make(length):
        angles = torch.outer(torch.arange(length), torch.arange(8))
        return angles.cos(), angles.sin()
"""
TRIED = """try:
                cos, sin = self.tables[length]
            except KeyError:
                cos, sin = make(length)
                self.tables[length] = cos, sin"""
BOUNDED = (
    TRIED
    + """
                if len(self.tables) > 8:
                    self.tables.popitem()"""
)


@pytest.mark.parametrize(
    ("look", "found"),
    [(TRIED, ["TN203"]), (BOUNDED, []), ("cos, sin = make(length)", [])],
)
def test_a_table_is_a_cache_where_a_missing_key_is_caught(look: str, found: list[str]) -> None:
    assert rules(TABLE.format(look=look)) == found


def test_a_table_that_makes_what_is_missing_is_a_cache() -> None:
    grids = """
    import torch
    class Grids(dict):
        def __missing__(self, size):
            self[size] = torch.cartesian_prod(*map(torch.arange, size)).float()
            return self[size]
    """
    assert rules(grids) == ["TN203"]


ROLLOUT = """
    from collections import namedtuple
    import torch
    from torch.distributions import Categorical
    Step = namedtuple("Step", "logp reward")
    class Rollout:
        def __init__(self):
            self.steps = []
        def add(self, *fields):
            self.steps.append(Step(*fields))
        def take(self):
            {take}
    def train(env, policy, optimizer, state):
        {rollout}
        for update in range(100):
            {fresh}
            for _ in range(32):
                dist = Categorical(logits=policy(state))
                state, reward = env.step(dist.sample().item())
                rollout.add(dist.log_prob(state), reward)
            loss = -sum(step.logp * step.reward for step in rollout.take())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("take", "rollout", "fresh", "found"),
    [
        ("return self.steps[-32:]", "rollout = Rollout()", "", ["TN107"]),
        ("taken, self.steps = self.steps, []; return taken", "rollout = Rollout()", "", []),
        ("return self.steps[-32:]", "", "rollout = Rollout()", []),
    ],
)
def test_what_backward_goes_through_is_wanted_once(take: str, rollout: str, fresh: str, found: list[str]) -> None:
    assert rules(ROLLOUT.format(take=take, rollout=rollout, fresh=fresh)) == found


LOOP = """
    import torch
    from torch import nn
    class Loop:
        def __init__(self, model, optimizer):
            self.model, self.optimizer, self.losses = model, optimizer, []
        def run(self, loader):
            for x, y in loader:
                loss = nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                self.losses.append({kept})
"""


@pytest.mark.parametrize(("kept", "found"), [("loss.detach()", ["TN201"]), ("loss.item()", []), ("x.shape", [])])
def test_a_number_of_each_turn_is_kept_by_the_loop_itself(kept: str, found: list[str]) -> None:
    assert rules(LOOP.format(kept=kept)) == found


MEMO = """
    import torch
    def memoize(function):
        results = {{}}
        def wrapper(*args):
            if args not in results:
                results[args] = function(*args)
            return results[args]
        {also}
        return wrapper
    @memoize
    def window(length):
        return {made}
    def main():
        for number in range(1000):
            window(number)
"""


@pytest.mark.parametrize(
    ("made", "also", "found"),
    [
        ("torch.hann_window(length)", "", ["TN203"]),
        ("torch.hann_window(length)", "wrapper.results = results", ["TN203"]),
        ("torch.hann_window(length)", "wrapper.forget = lambda: results.clear()", []),
        ("length * 2", "", []),
    ],
)
def test_a_table_in_a_decorator_holds_what_it_is_put_on(made: str, also: str, found: list[str]) -> None:
    assert rules(MEMO.format(made=made, also=also)) == found


DEFAULTS = """
    import torch
    class Anchors:
        def __init__(self):
            self.table = {{}}
        def forward(self, features):
            {look}
"""


@pytest.mark.parametrize(
    ("look", "found"),
    [
        ("return self.table.setdefault(features.shape, torch.zeros(9, 4))", ["TN203", "TN206"]),
        ("self.table.setdefault(features.shape, []).append(3)", []),
        ("return self.table.setdefault(features.dtype, torch.zeros(9, 4))", ["TN206"]),
    ],
)
def test_a_default_that_is_set_stays_in_the_table(look: str, found: list[str]) -> None:
    assert sorted(rules(DEFAULTS.format(look=look))) == found


TEXTS = """
    import torch
    class Prompts:
        def __init__(self, model):
            self.model, self.known = model, {{}}
        @torch.no_grad()
        def __getitem__(self, {key}):
            if {key} not in self.known:
                self.known[{key}] = self.model({key})
            return self.known[{key}]
"""


@pytest.mark.parametrize(("key", "found"), [("text", ["TN203"]), ("prompt", ["TN203"]), ("index", []), ("length", [])])
def test_texts_that_are_looked_up_are_others_again_and_again(key: str, found: list[str]) -> None:
    assert rules(TEXTS.format(key=key)) == found


GRIDS = """
    import torch
    class Bank:
        def __init__(self):
            self.grids = {{}}
        def get(self, feature):
            h, w = feature.{size}
            name = f"{{h}}x{{w}}"
            if name not in self.grids:
                self.put(name, torch.zeros(h, w))
            return self.grids[name]
        def put(self, name, grid):
            {put}
    def main(features):
        bank = Bank()
        for feature in features:
            print(bank.get(feature))
"""


@pytest.mark.parametrize(
    ("size", "put", "found"),
    [
        ("shape[-2:]", "self.grids[name] = grid", ["TN203"]),
        ("shape[-2:]", "self.grids.update({name: grid})", ["TN203"]),
        ("shape[-2:]", "self.grids.clear(); self.grids[name] = grid", []),
        ("kinds", "self.grids[name] = grid", []),
    ],
)
def test_a_key_is_followed_to_where_it_was_made(size: str, put: str, found: list[str]) -> None:
    assert rules(GRIDS.format(size=size, put=put)) == found


def test_a_table_of_a_function_lives_on() -> None:
    window = """
    import torch
    def window(length):
        if length not in window.cache:
            window.cache[length] = torch.hann_window(length)
        return window.cache[length]
    window.cache = {}
    def main(clips):
        for clip in clips:
            window(len(clip))
    """
    assert rules(window) == ["TN203"]


STAGES = """
    import torch
    class Pipeline:
        def __init__(self):
            self.latents = []
    class Encoding:
        def __call__(self, pipeline, album):
            for page in album:
                pipeline.latents.append(torch.zeros(len(page)))
    def main(album, rounds):
        pipeline, stages = Pipeline(), [Encoding()]
        {run}
"""


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("for stage in stages: stage(pipeline, album)", []),
        ("for _ in rounds: [stage(pipeline, album) for stage in stages]", ["TN202"]),
    ],
)
def test_stages_that_run_one_after_the_other_run_once(run: str, found: list[str]) -> None:
    assert rules(STAGES.format(run=run)) == found


BANK = """
    import torch
    class Bank:
        def __init__(self):
            self.keys = None
        def enqueue(self, features):
            if self.keys is None:
                self.keys = features
            else:
                self.keys = torch.cat([self.keys, features]){cut}
    def main(net, loader):
        bank = Bank()
        for x in loader:
            with torch.no_grad():
                bank.enqueue(net(x))
"""


@pytest.mark.parametrize(("cut", "found"), [("", ["TN202"]), ("[-64:]", [])])
def test_a_joined_tensor_grows_from_its_first_use_on(cut: str, found: list[str]) -> None:
    assert rules(BANK.format(cut=cut)) == found


METERS = """
    import torch
    from torch import nn
    class Window:
        def __init__(self):
            self.values = []
        def add(self, value):
            self.values.append(value)
    class Meters(dict):
        def __missing__(self, name):
            self[name] = Window()
            return self[name]
    def main(loader):
        net, meters = nn.Linear(4, 4), Meters()
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            meters["mse"].add(loss)
"""


def test_what_a_table_of_the_program_makes_is_found_in_its_places() -> None:
    assert rules(METERS) == ["TN101"]
    assert rules(METERS.replace("add(loss)", "add(loss.item())")) == []


SNAPSHOTS = """
    import torch
    class Soup:
        def __init__(self):
            self.pantry = []
        def add(self, model):
            self.pantry.append({kept})
        def cook(self, model):
            model.load_state_dict({cooked})
    def main(model, loader):
        soup = Soup()
        for batch in loader:
            model(batch)
            soup.add(model)
        soup.cook(model)
"""


STATE = "{k: v.detach().clone() for k, v in model.state_dict().items()}"
ALL = "mean([dict(each) for each in self.pantry])"


@pytest.mark.parametrize(
    ("kept", "cooked", "found"),
    [
        (STATE, "self.pantry[-1]", ["TN202"]),
        (STATE, ALL, []),
        ("copy.deepcopy(model.state_dict())", "max(self.pantry, key=score)", ["TN402"]),
        ("copy.deepcopy(model.state_dict())", ALL, []),
        ("model(batch).detach()", ALL, ["TN202"]),
    ],
)
def test_copies_that_are_all_gone_through_in_the_end_are_meant(kept: str, cooked: str, found: list[str]) -> None:
    assert rules(SNAPSHOTS.format(kept=kept, cooked=cooked)) == found
