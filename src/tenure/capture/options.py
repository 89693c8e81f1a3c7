"""What `tenure run` was asked for, on its way into the program."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from tenure.capture.steps.census_ranks import takes_censuses
from tenure.capture.steps.census_steps import is_geometric
from tenure.capture.steps.schedule import Schedule
from tenure.capture.system.ranks import Place


def read_percent(text: str) -> float:
    """`1%` or `1` as 1.0; ValueError where it is no share from 0 to 100."""
    try:
        share = float(text.strip().removesuffix("%"))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise ValueError(f"{text!r} is no share from 0% to 100%")
    return share


@dataclass(frozen=True)
class MonitorOptions:
    """What `tenure run` was asked for; travels to the program as one JSON environment variable."""

    stop_after: int | None = None
    census_at: tuple[int, ...] | None = None
    budget_percent: float = 1.0
    profile_step: int | None = None
    """The first of the two steps to profile; 0 for none, None for one after warm-up."""

    experiment_step: int | None = None
    """The step after which a copy of the process is left for experiments; 0 for none, None for one at the end."""

    hash_at: tuple[int, ...] | None = None
    """The steps after which the parameters are hashed, beside those of the geometric schedule; None: never."""

    census_ranks: str | None = None
    """The ranks of a distributed run that take censuses, as `steps.census_ranks` reads it; None: all."""

    history_entries: int = 0
    """How many allocations the device's allocator keeps on record with their stacks; 0: none are recorded."""

    plans: bool = False
    """Whether the profiled steps are written as a memory stream, for `tenure plan`."""

    tries: tuple[str, ...] | None = None
    """Options of a plan to switch on in the program; none of them where its survey alone is wanted."""

    world_size: int | None = None
    """Of how many ranks the program is planned as the first, with collectives that do nothing; None: it is as it is."""

    fake: bool = False
    """Whether the program's large tensors are fake, so that they take no memory."""

    def to_json(self) -> str:
        """The text for the environment."""
        return json.dumps(self.as_dict())

    def as_dict(self) -> dict[str, object]:
        """Plain values for the environment, as `from_json` reads them."""
        return {
            "stop_after": self.stop_after,
            "census_at": self.census_at,
            "budget": self.budget_percent,
            "profile_step": self.profile_step,
            "experiment_step": self.experiment_step,
            "hash_at": self.hash_at,
            "history_entries": self.history_entries,
            "census_ranks": self.census_ranks,
            "plans": self.plans,
            "tries": self.tries,
            "world_size": self.world_size,
            "fake": self.fake,
        }

    @classmethod
    def from_json(cls, text: str) -> MonitorOptions:
        """Options from the environment's text; what is absent has its default."""
        values = json.loads(text) if text else {}
        steps, hash_at, tries = values.get("census_at"), values.get("hash_at"), values.get("tries")
        return cls(
            stop_after=values.get("stop_after"),
            census_at=None if steps is None else tuple(steps),
            budget_percent=values.get("budget", 1.0),
            profile_step=values.get("profile_step"),
            experiment_step=values.get("experiment_step"),
            hash_at=None if hash_at is None else tuple(hash_at),
            history_entries=int(values.get("history_entries", 0)),
            census_ranks=values.get("census_ranks"),
            plans=bool(values.get("plans", False)),
            tries=None if tries is None else tuple(tries),
            world_size=values.get("world_size"),
            fake=bool(values.get("fake", False)),
        )

    def hashes_after(self, step: int) -> bool:
        """Whether the parameters are hashed after this step."""
        return self.hash_at is not None and (is_geometric(step) or step in (*self.hash_at, self.stop_after))

    @property
    def copy_step(self) -> int | None:
        """The step after which a copy is left: of a program that is stopped, the last but one, while all still runs."""
        if self.experiment_step is None and self.stop_after is not None:
            return self.stop_after - 1
        return self.experiment_step

    def at(self, place: Place) -> MonitorOptions:
        """The same for a process there: on a rank that takes no censuses nothing is profiled and no copy is left."""
        return self if self._takes_censuses(place) else replace(self, profile_step=0, experiment_step=0)

    def make_schedule(self, place: Place) -> Schedule:
        """When to take a census; with several ranks by the step's number alone, and on some of them perhaps never."""
        if not self._takes_censuses(place):
            return Schedule(steps=frozenset(), several_ranks=True)
        return Schedule(
            steps=None if self.census_at is None else frozenset(self.census_at),
            last_step=None if self.plans else self.stop_after,
            copy_step=self.copy_step,
            budget_percent=self.budget_percent,
            several_ranks=place.has_others,
        )

    def _takes_censuses(self, place: Place) -> bool:
        return self.census_ranks is None or place.rank is None or takes_censuses(place.rank, self.census_ranks)
