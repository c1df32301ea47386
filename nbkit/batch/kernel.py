"""The kernel a notebook runs in: this Python, its own sockets, nothing of the user's Jupyter configuration."""

from __future__ import annotations

import sys

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from traitlets import Dict


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
