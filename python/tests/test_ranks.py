# SPDX-License-Identifier: Apache-2.0
"""Fits on the processes of a communicator. Threads stand in for them here; tests/mpi_test.py has
mpi4py's own."""
import queue
import threading

import pytest

import espalier


class Communicator:
    """The calls of an mpi4py communicator that are used, between threads."""

    def __init__(self, rank, wires):
        self.rank, self._wires = rank, wires  # wires[a][b]: what a sends to b

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return len(self._wires)

    def Dup(self):
        return self

    def Free(self):
        pass

    def bcast(self, value):
        if self.rank == 0:
            for wire in self._wires[0][1:]:
                wire.put(value)
            return value
        return self._wires[0][self.rank].get(timeout=60)

    def Isend(self, data, dest):
        self._wires[self.rank][dest].put(bytes(data))
        return Request(lambda: None)

    def Irecv(self, data, source):
        def fill():
            data[:] = self._wires[source][self.rank].get(timeout=60)
        return Request(fill)


class Request:
    def __init__(self, wait):
        self.Wait = wait


def on_ranks(size, work):
    """What work(communicator) gives on each of them."""
    wires = [[queue.Queue() for _ in range(size)] for _ in range(size)]
    results = [None] * size

    def one(rank):
        results[rank] = work(Communicator(rank, wires))
    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture(scope="module")
def loans():
    table = espalier.simulate(rows=500)
    return table, table.pop("default")


def classifier(**params):
    given = dict(monotonic_cst={"debt_ratio": 1}, epochs=2, ensemble=1, batch_size=256, n_jobs=1,
                 random_state=0)
    return espalier.MonotonicClassifier(**given | params)


def test_ranks_fit_the_model_of_one_process(loans):
    alone = classifier().fit(*loans).model_.to_bytes()
    for size in (2, 3):
        models = on_ranks(size, lambda communicator: classifier().fit(
            *loans, communicator=communicator).model_.to_bytes())
        assert models == [alone] * size


def test_ranks_that_draw_a_seed_draw_the_same(loans):
    first, second = on_ranks(2, lambda communicator: classifier(random_state=None).fit(
        *loans, communicator=communicator).model_.to_bytes())
    assert first == second


def test_the_first_rank_has_the_checkpoint(loans, tmp_path):
    def fit(communicator):
        folder = tmp_path / str(communicator.rank)
        return classifier().fit(*loans, communicator=communicator, checkpoint=folder,
                                checkpoint_seconds=0).model_.to_bytes()
    assert on_ranks(2, fit) == [classifier().fit(*loans).model_.to_bytes()] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["0"]
    assert not list((tmp_path / "0").iterdir())


def test_ranks_divide_a_search(loans):
    def search(communicator):
        found = espalier.tune(classifier(), *loans, trials=4, confirm=0, communicator=communicator)
        trials = [(trial.trial, trial.value) for trial in found.trials]
        return trials, found.estimator.model_.to_bytes()
    assert on_ranks(2, search) == [search(None)] * 2


def test_what_is_no_communicator_is_refused(loans):
    with pytest.raises(espalier.Error, match="communicator: 4 is none; wanted one of mpi4py"):
        classifier().fit(*loans, communicator=4)
