# SPDX-License-Identifier: Apache-2.0
# Megabytes a second of pyarrow's CSV reader on one thread.
#   peer_pyarrow.py FILE COLUMN
import os
import sys

import peers

compute = peers.require("pyarrow.compute", "pyarrow")
csv = peers.require("pyarrow.csv", "pyarrow")
path, column = sys.argv[1:]
read = lambda: csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False))
table = read()
seconds = peers.median_seconds(3, read)
peers.report(contender="pyarrow, 1 thread", value=os.path.getsize(path) / 1e6 / seconds,
             unit="MB/s", rows=len(table),
             sum=float(compute.sum(table[column]).as_py()),
             version=peers.version("pyarrow"))
