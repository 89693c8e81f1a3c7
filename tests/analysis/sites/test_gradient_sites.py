from tenure.analysis.sites.binding_sites import resolve_sites
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

PENALTY = """\
def penalty(scores):
    scores.sum().backward(create_graph=True)


def step(loss, keep):
    loss.backward()
    loss.backward(create_graph=False)
    loss.backward(retain_graph=True, create_graph=keep)
    torch.autograd.grad(loss, [], create_graph=True)
"""
GRADIENT = HoldingReference(kind="gradient", name="backward", expression="net.weight.grad")


def test_calls_of_backward_that_ask_for_a_graph_are_found_the_users_own_first() -> None:
    sources = {
        "/lib/site-packages/optim.py": SourceFile("/lib/site-packages/optim.py", PENALTY, "library"),
        "/me/penalty.py": SourceFile("/me/penalty.py", PENALTY, "yours"),
        "/me/broken.py": SourceFile("/me/broken.py", "def (create_graph=True)", "yours"),
    }

    assert resolve_sites(GRADIENT, sources, growing=False) == (
        SourceLocation("/me/penalty.py", 2, "penalty"),
        SourceLocation("/me/penalty.py", 8, "step"),
        SourceLocation("/lib/site-packages/optim.py", 2, "penalty"),
        SourceLocation("/lib/site-packages/optim.py", 8, "step"),
    )


def test_without_such_a_call_there_is_no_place() -> None:
    assert resolve_sites(GRADIENT, {"a.py": SourceFile("a.py", "loss.backward()", "yours")}, growing=False) == ()
