"""``python -m nbkit`` is `nbkit`."""

from nbkit.cli import main

if __name__ == "__main__":
    main()
