"""The commands of `nbkit`, one module a theme; `nbkit.cli` imports each when it is used."""
