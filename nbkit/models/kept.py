"""Loaded models that are kept in this process, the last used ones."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

Model = TypeVar("Model")


def key_of(identity: Mapping[str, Any], *more: Hashable) -> Hashable:
    """The key of a loaded model: its identity as the store's address holds it, and *more* that matters.

    A name or a folder would not do: what lies there may be another model by now.

    >>> key_of({"weights": "9ab3", "dtype": "float32"}, "cpu")
    ('{"dtype": "float32", "weights": "9ab3"}', 'cpu')
    """
    return (json.dumps(identity, sort_keys=True), *more)


class Kept(Generic[Model]):
    """The last *most* things that were asked for; one that is not there is loaded, and the oldest let go first.

    >>> kept = Kept(most=2)
    >>> [kept.get(name, lambda name=name: name.upper()) for name in ("a", "b", "a", "c")]
    ['A', 'B', 'A', 'C']
    >>> list(kept.things)
    ['a', 'c']
    """

    def __init__(self, most: int):
        self.most = most
        self.things: OrderedDict[Hashable, Model] = OrderedDict()

    def get(self, key: Hashable, load: Callable[[], Model]) -> Model:
        """What is kept under *key*, loaded now where it is not."""
        if key in self.things:
            self.things.move_to_end(key)
            return self.things[key]
        while len(self.things) >= self.most:
            self.things.popitem(last=False)
        self.things[key] = load()
        return self.things[key]
