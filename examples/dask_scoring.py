# SPDX-License-Identifier: Apache-2.0
"""Scoring on a Dask cluster: a model is pickled to the workers, which predict their partitions.

    pip install espalier "dask[dataframe,distributed]"
    python examples/dask_scoring.py [--rows 1000000] [--workers 2] [--folder DIR]

Predictions are the bits that the model gives in one process, and stay in the order of the rows.
"""
import argparse
import tempfile
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import espalier


def make_table(folder, rows, parts):
    """Made-up loans as some Parquet files; simulate gives the same rows for the same seed."""
    folder.mkdir(exist_ok=True)
    for part in range(parts):
        table = pd.DataFrame(espalier.simulate(rows=rows // parts, seed=part + 1))
        table.to_parquet(folder / f"part-{part:03}.parquet", index=False)


def score(partition, model):
    """One partition, a pandas frame. Workers are processes with a core each, so n_jobs=1."""
    return pd.Series(model.predict(partition, n_jobs=1), index=partition.index, name="risk")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp()) / "loans"
    make_table(folder, args.rows, parts=4 * args.workers)

    # Trained from the files, too: batch by batch, so they may be larger than memory.
    risk = espalier.MonotonicClassifier(
        monotonic_cst={"debt_ratio": 1, "late_payments": 1, "income": -1}, epochs=2,
        architecture="dln(20x3)")
    model = risk.fit(folder, "default").model_
    assert model.verify().holds

    cluster = LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster):
        table = dd.read_parquet(folder)
        meta = pd.Series([], dtype=np.float32, name="risk")
        risks = table.map_partitions(score, model, meta=meta)
        start = time.perf_counter()
        found = risks.compute()
        seconds = time.perf_counter() - start
    print(f"{len(found):,} rows in {seconds:.1f} s: {len(found) / seconds:,.0f} rows a second by "
          f"{args.workers} workers, Parquet read and results gathered")

    wanted = np.concatenate(list(model.predict_batches(folder)))
    assert (found.to_numpy() == wanted).all()
    print(f"as in one process, bit for bit; mean risk {found.mean():.4f}")


if __name__ == "__main__":
    main()
