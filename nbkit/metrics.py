"""The old name of `nbkit.measure`, for one release."""

from nbkit.deprecation import moved

__path__: list[str] = []  # so that imports of what was in this package are answered by name
__getattr__ = moved(__name__, {"METRICS": "nbkit.measure:METRICS", "load_metric": "nbkit.measure:load_metric"})
