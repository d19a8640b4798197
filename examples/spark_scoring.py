# SPDX-License-Identifier: Apache-2.0
"""Scoring on Spark: the bytes of a model go to the executors, which predict batches of rows.

    pip install espalier pyspark pandas pyarrow      # and a Java that this Spark takes
    python examples/spark_scoring.py [--rows 1000000] [--workers 2]

Predictions are the bits that the model gives in one process.
"""
import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

import espalier


def make_table(folder, rows, parts):
    """Made-up loans with a number each, as some Parquet files."""
    folder.mkdir(exist_ok=True)
    for part in range(parts):
        table = pd.DataFrame(espalier.simulate(rows=rows // parts, seed=part + 1))
        table["row"] = np.arange(len(table)) + part * len(table)
        table.to_parquet(folder / f"part-{part:03}.parquet", index=False)


def scorer(model):
    """What mapInPandas calls with the batches of a partition; the model goes with it, pickled."""
    def score(batches):
        for batch in batches:
            yield pd.DataFrame({"row": batch["row"], "risk": model.predict(batch, n_jobs=1)})
    return score


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp()) / "loans"
    make_table(folder, args.rows, parts=4 * args.workers)

    table = pd.DataFrame(espalier.simulate(rows=20_000, seed=1))
    risk = espalier.MonotonicClassifier(
        monotonic_cst={"debt_ratio": 1, "late_payments": 1, "income": -1}, epochs=2,
        architecture="dln(20x3)")
    model = risk.fit(table, "default").model_
    assert model.verify().holds

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the package, too
    spark = (SparkSession.builder.master(f"local[{args.workers}]").appName("scoring")
             .config("spark.ui.enabled", "false")
             .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    risks = spark.read.parquet(str(folder)).mapInPandas(scorer(model), "row long, risk float")
    start = time.perf_counter()
    risks.write.parquet(str(folder.parent / "risks"))
    seconds = time.perf_counter() - start
    print(f"{args.rows:,} rows in {seconds:.1f} s: {args.rows / seconds:,.0f} rows a second by "
          f"{args.workers} workers of Spark {spark.version}, Parquet read and written")

    found = spark.read.parquet(str(folder.parent / "risks")).toPandas().sort_values("row")
    spark.stop()
    wanted = np.concatenate(list(model.predict_batches(folder)))
    assert (found["risk"].to_numpy() == wanted).all()
    print("as in one process, bit for bit")


if __name__ == "__main__":
    main()
