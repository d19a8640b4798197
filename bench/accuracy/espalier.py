# SPDX-License-Identifier: Apache-2.0
# Espalier, untuned, as an ensemble and tuned.
#
#   espalier.py SECONDS THREADS FOLDER ...
#
# `espalier tune` on the first folder for SECONDS, then `espalier train` with what it found on every
# folder. A folder without validation rows is tuned by folds and trained without any; there the
# defaults are an ensemble already. The networks of an ensemble take their validation rows in turn.
import json
import sys
import tempfile
from pathlib import Path

import peers
from program import espalier, output_of
from protocol import FOLDS


def rows_of(folder):
    """Arguments for the training and the validation rows."""
    valid = folder / "valid.csv"
    return [folder / "train.csv", *(["--valid", valid] if valid.exists() else [])]


def tune(folder, seconds, threads, scratch):
    """(a file of the best settings, what is known of the search)"""
    rows = rows_of(folder)
    found = espalier("tune", *rows, "--config", folder / "options.json",
                     *(["--folds", FOLDS] if len(rows) == 1 else []), "--minutes", seconds / 60,
                     "--threads", threads, "-o", scratch / "tuned.esp", "--quiet")
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
        tuned, search = tune(folders[0], float(seconds), threads, Path(scratch))
        for seed, folder in enumerate(folders, 1):
            defaults = ["--config", folder / "options.json"]
            variants = [("espalier, defaults", [*rows_of(folder), *defaults], {}),
                        ("espalier, tuned", [*rows_of(folder), "--config", tuned], search)]
            if (folder / "all.csv").exists():
                ensemble = [folder / "all.csv", *defaults, "--ensemble", 5]
                variants.insert(1, ("espalier, ensemble", ensemble, {}))
            for name, arguments, more in variants:
                peers.report(contender=name, version=version, **more,
                             **judge(folder, arguments, seed, threads, Path(scratch)))


main()
