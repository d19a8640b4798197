# SPDX-License-Identifier: Apache-2.0
# Espalier as it comes, as an ensemble, and tuned.
#
#   espalier.py SECONDS THREADS FOLDER ...
#
# `espalier tune` on the rows of the first folder for SECONDS, then `espalier train` with what it
# found on every folder, as an ensemble. The networks of an ensemble take their validation rows in
# turn. With 0 seconds there are the defaults only. A folder without validation rows is tuned by
# folds and trained without any; there the defaults are an ensemble already.
import json
import sys
import tempfile
from pathlib import Path

import peers
from program import espalier, output_of
from protocol import FOLDS, MEMBERS


def variants_of(folder, tuned):
    """{name: arguments of train}"""
    options = ["--config", folder / "options.json"]
    if not (folder / "all.csv").exists():
        rows = [folder / "train.csv"]
        defaults = {"defaults": rows + options}
        return defaults | ({"tuned": [*rows, "--config", tuned]} if tuned else {})
    defaults = {"defaults": [folder / "train.csv", "--valid", folder / "valid.csv", *options]}
    all_rows = [folder / "all.csv", "--ensemble", MEMBERS]
    return defaults | ({"ensemble": all_rows + options, "tuned": [*all_rows, "--config", tuned]}
                       if tuned else {})


def tune(folder, seconds, threads, scratch):
    """(a file of the best settings, what is known of the search)"""
    all_rows = folder / "all.csv"
    rows = [all_rows] if all_rows.exists() else [folder / "train.csv", "--folds", FOLDS]
    found = espalier("tune", *rows, "--config", folder / "options.json", "--minutes",
                     seconds / 60, "--threads", threads, "-o", scratch / "tuned.esp", "--quiet")
    settings = json.loads((folder / "options.json").read_text()) | found["trained"]["options"]
    config = scratch / "tuned.json"
    config.write_text(json.dumps(settings))
    return config, {"settings": found["best"]["settings"] | {"epochs": found["best"]["epochs"]},
                    "tuned_loss": found["best"]["value"], "trials": len(found["trials"])}


def judge(folder, arguments, seed, threads, scratch):
    """Trains, proves and predicts."""
    model = scratch / "model.esp"
    trained = espalier("train", *arguments, "--seed", seed, "--threads", threads, "-o", model,
                       "--quiet")
    proof = espalier("verify", model, "--threads", threads)
    if proof["violations"] or proof["pair_violations"]:
        sys.exit(f"espalier.py: {folder}: the model is not monotone")
    header, *predictions = output_of("predict", model, folder / "test.csv").splitlines()
    return {"seconds": trained["seconds"], "predictions": [float(each) for each in predictions]}


def main():
    seconds, threads, *folders = sys.argv[1:]
    folders = [Path(folder) for folder in folders]
    version = output_of("--version").strip()
    with tempfile.TemporaryDirectory() as scratch:
        tuned, search = None, {}
        if float(seconds) > 0:
            tuned, search = tune(folders[0], float(seconds), threads, Path(scratch))
        for seed, folder in enumerate(folders, 1):
            for name, arguments in variants_of(folder, tuned).items():
                peers.report(contender=f"espalier, {name}", version=version,
                             **(search if name == "tuned" else {}),
                             **judge(folder, arguments, seed, threads, Path(scratch)))


main()
