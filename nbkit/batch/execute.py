"""The kernel a notebook runs in: this Python, its own sockets, nothing of the user's Jupyter configuration."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, cast

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Dict

from nbkit.batch.folder import OutputFolder
from nbkit.batch.plan import Execution
from nbkit.batch.pool import TaskError, end_with_parent
from nbkit.errors import NbkitError
from nbkit.files import writable
from nbkit.registry import PLUGINS, load_plugins
from nbkit.store import cache_folder

#: What nearly every notebook imports, and what takes longer than most of them: seconds a kernel.
_PRELOADED = ["ipykernel.kernelapp", "pandas", "seaborn", "pingouin"]


_INLINE = "module://matplotlib_inline.backend_inline"


class OwnKernelManager(AsyncKernelManager):
    """Starts the ipykernel of the running Python, whatever kernel the user has installed under ``python3``.

    Configure it with ``transport="ipc"`` and a connection file of its own: kernels that are started at the
    same time over TCP can pick the same port.

    environment: variables that the kernel gets beside those of this process.
    """

    environment = Dict().tag(config=True)

    @property
    def kernel_spec(self) -> KernelSpec:
        """ipykernel under this interpreter."""
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python", env=dict(self.environment))

    async def _async_pre_start_kernel(self, **options: Any) -> Any:
        if self.provisioner is None and sys.platform == "linux":  # elsewhere forked libraries may crash
            spec = self.kernel_spec
            self.provisioner = _ForkedKernels(kernel_id=self.kernel_id, kernel_spec=spec, parent=self)
        return await super()._async_pre_start_kernel(**options)


class _ForkedKernels(LocalProvisioner):
    """Forks kernels off a process that has imported the libraries, instead of importing them in every kernel."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        folder = str(options.get("cwd") or Path.cwd())
        kernel = _nursery().Process(target=_live, args=(cmd[cmd.index("-f") :], options["env"], folder))
        kernel.start()
        self.process = cast("Any", _LikePopen(kernel))
        self.pid, self.cwd = kernel.pid, folder
        self.pgid = None  # its group is its own only when it runs; signals go to the process
        return self.connection_info


def _nursery() -> ForkServerContext:
    """Where kernels are forked: a process without threads of its own work, which ends with this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    os.environ.setdefault("MPLBACKEND", _INLINE)  # read when matplotlib is imported, which happens there
    return context


def _live(arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
    """What a forked process does: it is a kernel, as if ``python -m ipykernel_launcher`` had been called."""
    from ipykernel.kernelapp import IPKernelApp

    end_with_parent()
    os.setsid()  # Ctrl-C in the terminal is not for kernels
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = ["ipykernel_launcher", *arguments]
    IPKernelApp.launch_instance(list(arguments), parent_handle=os.getppid())


class _LikePopen:
    """A process of multiprocessing with the methods of `subprocess.Popen` that a provisioner calls."""

    stdin = stdout = stderr = None

    def __init__(self, process: Any):
        self._process = process
        self.pid: int = process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


# ----------------------------------------------------------------------------
# What a worker does: one unit of work, or one notebook through papermill in a kernel of its own.

START_TIMEOUT = 120  # seconds for a kernel to answer: many start at once on a busy machine


_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """How a notebook ended: the seconds it took, and its error where it failed."""

    label: str
    seconds: float
    error: TaskError | None = None


def places() -> dict[str, str]:
    """The variables that say where results and data are, for a worker on any machine."""
    found = {"NBKIT_CACHE": cache_folder()}
    return found | {name: os.environ[name] for name in ("NBKIT_DATA", PLUGINS) if name in os.environ}


def worker_environment(threads: int) -> dict[str, str]:
    """Variables of our own workers and their kernels, set before torch is imported.

    *threads* for each library that would take all cores, unless the user has set it; and no progress bars,
    which many processes would write over each other.
    """
    counts = {name: os.environ.get(name, str(threads)) for name in _THREAD_VARIABLES}
    return {**places(), **counts, "TOKENIZERS_PARALLELISM": "false", "TQDM_DISABLE": "1"}


def run_unit(function: str, arguments: Mapping[str, Any], where: Mapping[str, str]) -> tuple[int | None, float]:
    """Call ``"package.module:function"`` with *arguments*; the seconds it took, and before them what it returned.

    A step or work of a study is asked to do its unit of work. What is returned may be the number of texts it computed
    (not those it found in the store), for estimates of later runs.
    """
    os.environ.update(where)
    load_plugins()
    started = time.perf_counter()
    module, _, name = function.partition(":")
    try:
        call = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise NbkitError(f"unit of work '{function}' cannot be found: {error}") from error
    result = getattr(call, "work", call)(**arguments)
    return result if isinstance(result, int) else None, time.perf_counter() - started


def run_notebook(execution: Execution, output: str, runtime: str, provenance: Mapping[str, Any]) -> Outcome:
    """Execute one notebook and write it down; the record comes last, so that a killed one is executed again.

    output: the run's folder. runtime: a short-named folder for connection files and sockets (the name of a
    socket may have 107 characters). A notebook that fails keeps its traceback and what it had saved.
    """
    with writable(Path(output)):
        return _executed(execution, output, runtime, provenance)


def _executed(execution: Execution, output: str, runtime: str, provenance: Mapping[str, Any]) -> Outcome:
    _spare_grammar()
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    folder = OutputFolder(Path(output))
    staging = folder.stage(execution.label)
    own = tempfile.mkdtemp(prefix="k-", dir=runtime)
    variables = {
        "NBKIT_OUTPUT": str(staging),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "IPYTHONDIR": f"{own}/ipython",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    kernel = {"transport": "ipc", "connection_file": f"{own}/kernel.json", "environment": variables}
    started = time.time()
    error = None
    try:
        papermill.execute_notebook(
            _braces_kept(execution.source),
            _braces_kept(staging / "notebook.ipynb"),
            dict(execution.parameters),
            kernel_name="python3",
            language="python",
            progress_bar=False,
            start_timeout=START_TIMEOUT,
            shutdown_kernel="immediate",  # it has nothing left to say, and a graceful one takes a second
            kernel_manager_class=OwnKernelManager,
            config=Config({"OwnKernelManager": kernel}),
        )
    except PapermillExecutionError as raised:
        error = TaskError(raised.ename, raised.evalue)
    seconds = time.time() - started
    folder.publish(execution, started, seconds, error, provenance)
    return Outcome(execution.label, seconds, error)


def _braces_kept(path: Path) -> str:
    """*path* for papermill, which fills in ``{parameters}`` in the names of files."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _spare_grammar() -> None:
    # nbformat imports jsonschema, which imports this package, if it is there, for a format that no notebook
    # has; it compiles a grammar for two seconds in every process. Missing, it is passed over.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
