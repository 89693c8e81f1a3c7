"""Publish and subscribe inside one process."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Callable, Mapping


@dataclass(frozen=True)
class Event:
    number: int
    topic: str
    payload: Mapping[str, Any]


Handler = Callable[[Event], None]


class EventBus:
    """Delivers events in order. A late subscriber may ask to see what was published before it came."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = defaultdict(list)
        self._published: list[Event] = []
        self._numbers = itertools.count(1)

    def subscribe(self, topic: str, handler: Handler, replay: bool = False) -> Callable[[], None]:
        self._handlers[topic].append(handler)
        if replay:
            for event in self._published:
                if event.topic == topic:
                    handler(event)
        return lambda: self._handlers[topic].remove(handler)

    def publish(self, topic: str, **payload: Any) -> None:
        event = Event(next(self._numbers), topic, payload)
        self._published.append(event)
        for handler in tuple(self._handlers[topic]):
            handler(event)
