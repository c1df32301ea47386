"""The kernel a notebook runs in: this Python, its own sockets, nothing of the user's Jupyter configuration."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, cast

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Dict

from nbkit.batch.pool import end_with_parent

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
