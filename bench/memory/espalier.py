# SPDX-License-Identifier: Apache-2.0
# The most anonymous memory that `espalier train` holds, against the table as float32: features and
# label, four bytes per cell.
#   espalier.py PROGRAM TABLE OPTIONS THREADS
import json
import sys

from watched_train import watched_train

EPOCHS = 2

program, table, options, threads = sys.argv[1:]
facts = watched_train(program, table, "--config", options, "--epochs", str(EPOCHS), "--threads",
                      threads)
rows = facts["train_rows"] + facts["valid_rows"]
table_bytes = 4 * rows * (facts["features"] + 1)
print(json.dumps({"contender": "espalier", "value": facts["peak_bytes"] / table_bytes,
                  "unit": "x the table", "peak_mb": facts["peak_bytes"] / 1e6,
                  "table_mb": table_bytes / 1e6, "seconds_an_epoch": facts["seconds"] / EPOCHS,
                  "wall_seconds": facts["wall_seconds"]}))
