"""A grid of notebooks: run files (`params`), what they come to (`plan`), how they are run (`run`), the `report`."""
