from types import SimpleNamespace

from tenure.capture.guarding.replaced import Replaced


def old() -> str:
    return "old"


def test_a_function_is_ours_until_it_is_put_back() -> None:
    owner = SimpleNamespace(work=old)
    replaced = Replaced(owner, "work", lambda original: lambda: f"new over {original()}")

    ours = owner.work()
    replaced.suspend()
    suspended = owner.work
    replaced.resume()
    resumed = owner.work()
    replaced.close()
    replaced.resume()

    assert (ours, suspended, resumed, owner.work) == ("new over old", old, "new over old", old)


def test_what_somebody_else_has_put_there_since_stays() -> None:
    owner = SimpleNamespace(work=old)
    replaced = Replaced(owner, "work", lambda original: lambda: original())
    theirs = owner.work = lambda: "theirs"

    replaced.suspend()
    replaced.resume()
    replaced.close()

    assert owner.work is theirs
