from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.dismissed_owners import dismiss_before_forgotten

PROBES = """
class Probe:
    def __init__(self, layer):
        self.handle = layer.register_forward_hook(self)  # here
    def stop(self):
        self.handle.remove()
class ContentProbe(Probe):
    pass
class Stylist:
    def __init__(self, net):
        self.probes = [ContentProbe(layer) for layer in net]
    def start(self, net):
        {made}
        print(net)
"""


def dismissed(made: str) -> list[list[str]]:
    source = source_of(PROBES.format(made=made))
    return [changes(source, edits) for edits in dismiss_before_forgotten([source], source, line_of(source))]


@pytest.mark.parametrize(
    ("made", "added"),
    [
        (
            "self.probes = [ContentProbe(layer) for layer in net if layer]",
            ['for each in getattr(self, "probes", ()):', "each.stop()"],
        ),
        ("self.probe = Probe(net)", ['for each in filter(None, [getattr(self, "probe", None)]):', "each.stop()"]),
        ("probe = Probe(net)", ["probe.stop()"]),
        ("probes = [Probe(layer) for layer in net]", ["for each in probes:", "each.stop()"]),
    ],
)
def test_what_holds_a_hook_is_dismissed_by_who_makes_it(made: str, added: list[str]) -> None:
    assert dismissed(made) == [added]


@pytest.mark.parametrize("made", ["self.probes = net.probes", "self.probes[net] = Probe(net)", "net.stop()"])
def test_what_is_made_elsewhere_or_dismissed_already_stays(made: str) -> None:
    assert dismissed(made) == []
