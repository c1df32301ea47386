"""A study's notebook in JupyterLab, as a reader runs it: in a browser, with a kernel of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOK = Path(__file__).parents[1] / "notebooks/word_order/perturbations.ipynb"
#: The last option gives the page's script access to JupyterLab's commands.
OPTIONS = ("--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token=")
EXPOSED = "--LabApp.expose_app_in_browser=True"
KERNEL = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
PATIENCE = 120  # seconds, on a busy machine


def wait_for(look: Callable[[], Any]) -> Any:
    """What *look* finds, as soon as it finds something."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end
        time.sleep(0.2)
    return found


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab over the folder ``root``, without any settings of the user's."""
    pytest.importorskip("jupyterlab")
    home, root = tmp_path / "home", tmp_path / "root"
    home.mkdir()
    root.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IPYTHON", "JUPYTER", "XDG"))}
    environment = {**kept, "HOME": str(home), "JUPYTER_RUNTIME_DIR": str(home), "NBKIT_CACHE": str(home / "cache")}
    log = home / "log"
    with log.open("w") as written:
        command = [sys.executable, "-m", "jupyterlab", *OPTIONS, EXPOSED, f"--notebook-dir={root}"]
        server = subprocess.Popen(command, env=environment, stdout=written, stderr=written)

    def address() -> str:
        assert server.poll() is None, log.read_text()
        found = [text for path in home.glob("jpserver-*.json") if (text := path.read_text())]
        return json.loads(found[0])["url"] if found else ""

    try:
        yield wait_for(address)
    finally:
        server.terminate()
        server.wait()


def test_a_misspelt_parameter_is_an_error_that_names_the_closest(lab: str, browser: Any, tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    [declared] = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    declared.source += "\nn_pair = 20"
    nbformat.write(notebook, tmp_path / "root/page.ipynb")

    browser.set_window_size(1200, 2400)  # JupyterLab draws only the cells that fit
    browser.get(f"{lab}lab/tree/page.ipynb")
    wait_for(lambda: browser.execute_script(f"return {KERNEL} === 'idle'"))  # without one, JupyterLab asks for it
    browser.execute_script("window.jupyterapp.commands.execute('runmenu:run-all')")
    shown = wait_for(lambda: [each.text for each in browser.find_elements("css selector", ".jp-OutputArea-output")])
    assert "ParamsError: notebook: n_pair: unknown parameter; did you mean 'n_pairs'?" in shown[0]
