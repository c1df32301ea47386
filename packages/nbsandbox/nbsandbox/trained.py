"""The models that come trained with this package: folders for ``from_pretrained``, one per name.

The folder of each holds weights in half precision (``model.safetensors``), tokenizer, configuration, the recipe
(``nbkit.json``), the digests of all of these (``nbkit.digests``) and a model card (``README.md``).
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def shipped_folder() -> Path:
    """The folder of all trained models; it does not exist if the package was installed without them."""
    return Path(str(files(__package__) / "models"))


def model_folder(name: str, *languages: str) -> Path | None:
    """The folder of the trained model *name* for *languages*; None if there is none.

    Parameters
    ----------
    name : str
        The model's name in nbkit.
    languages : str
        Source and target of a translator, the language of any other model; a model of all pairs has one folder.

    Returns
    -------
    Path or None
        The folder.

    Examples
    --------
    >>> folder = model_folder("sandbox-convnet", "en")
    >>> folder.name, model_folder("sandbox-convnet", "de")
    ('sandbox-convnet-en', None)
    """
    for stem in ("-".join((name, *languages)), name):
        folder = shipped_folder() / stem.replace("#", "-seed-")
        if "/" not in name and (folder / "model.safetensors").is_file():
            return folder
    return None
