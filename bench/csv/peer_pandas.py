# SPDX-License-Identifier: Apache-2.0
# Megabytes a second of pandas.read_csv, its C engine.
#   peer_pandas.py FILE COLUMN
import os
import sys

import peers

pandas = peers.require("pandas")
path, column = sys.argv[1:]
frame = pandas.read_csv(path, engine="c")
seconds = peers.median_seconds(3, lambda: pandas.read_csv(path, engine="c"))
peers.report(contender="pandas", value=os.path.getsize(path) / 1e6 / seconds, unit="MB/s",
             rows=len(frame), sum=float(frame[column].sum()), version=peers.version("pandas"))
