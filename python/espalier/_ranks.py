# SPDX-License-Identifier: Apache-2.0
"""Processes that train one model together: those of an mpi4py communicator."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _core


class Ranks:
    """What the library asks of a network. No MPI is imported: the communicator brings its own."""

    def __init__(self, communicator: Any) -> None:
        self.rank: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self._communicator = communicator

    def exchange(self, send: list[memoryview], receive: list[memoryview]) -> None:
        others = [q for q in range(self.size) if q != self.rank]
        network = self._communicator
        requests = [network.Irecv(receive[q], source=q) for q in others if len(receive[q])]
        requests += [network.Isend(send[q], dest=q) for q in others if len(send[q])]
        receive[self.rank][:] = send[self.rank]
        for request in requests:
            request.Wait()

    def share_seed(self, options: dict[str, Any]) -> None:
        """That of the first rank: the others may have drawn another."""
        options["seed"] = self._communicator.bcast(options["seed"])


@contextmanager
def ranks_of(communicator: Any) -> Iterator[Ranks | None]:
    """With messages that meet no others of the communicator."""
    if communicator is None:
        yield None
        return
    if not hasattr(communicator, "Irecv"):
        raise _core.Error(f"communicator: {communicator!r} is none; wanted one of mpi4py, such as "
                          "MPI.COMM_WORLD")
    own = communicator.Dup()
    yield Ranks(own)
    own.Free()  # waits for the others, which an error must not
