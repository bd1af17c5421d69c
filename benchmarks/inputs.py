"""What people bring: every format, embeddings that are large, text, single cells, predictions.

    python -m benchmarks.inputs formats memory predictions
    python -m benchmarks.inputs text cells --real DIR

Each part writes ``benchmarks/results/inputs_PART.json``. From the folder that ``--real`` names,
``text`` reads ``clinc150.csv.gz`` (CLINC150: text, intent, split) and ``cells`` reads
``pbmc68k_reduced.h5ad``, which is in the scanpy wheel. Time is CPU time of a command of its own,
memory its largest resident set, as Linux tells it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"
SEEDS = range(3)
MB = 1 << 20
_FORMATS = (
    *("csv", "npy", "npz", "parquet", "feather", "jsonl", "xlsx"),
    *("arff", "h5ad", "_excel.csv", "_lists.csv"),
)


def command(*arguments: str, folder: Path) -> dict:
    """Run ``unseen estimate`` in a process of its own: its answer, CPU seconds and memory."""
    out = folder / "out.json"
    code = (
        "import sys, resource, json; from unseen.cli import main\n"
        "try: main(sys.argv[2:])\n"
        "except SystemExit as end: code = end.code\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        # The largest resident set of rusage counts that of the process which started this one.
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "peak = int(peak.split()[1])\n"
        "json.dump([used.ru_utime + used.ru_stime, peak], open(sys.argv[1], 'w'))\n"
        "sys.exit(code)\n"
    )
    given = [str(folder / "used.json"), "estimate", *arguments, "-q", "--json", str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", code, *given], check=True, env=environment)
    seconds, kilobytes = json.loads((folder / "used.json").read_text())
    estimate = json.loads(out.read_text())["estimate"]
    drift = estimate.get("drift") or {}
    return {
        "unseen": round(estimate["unseen"], 4),
        "low": round(estimate["intervals"][-1][0], 4),
        "high": round(estimate["intervals"][-1][1], 4),
        "verdict": drift.get("verdict"),
        "cpu_s": round(seconds, 1),
        "mb": round(kilobytes / 1024),
    }


def text(real: Path, folder: Path, rows_an_intent: list[int]) -> dict:
    """CLINC150, some rows an intent as TRAIN, the test queries and the out-of-scope ones as NEW."""
    table = pd.read_csv(real / "clinc150.csv.gz")
    new = table[table.split.isin(["test", "oos_test"])]
    truth = float((new.split == "oos_test").mean())
    new[["text"]].sample(frac=1, random_state=0).to_csv(folder / "new.csv", index=False)
    found: dict = {"truth": round(truth, 4), "new_rows": len(new)}
    for n_rows in rows_an_intent:
        train = table[table.split == "train"].groupby("intent").head(n_rows)
        train[["text", "intent"]].to_csv(folder / "train.csv", index=False)
        files = (str(folder / "train.csv"), str(folder / "new.csv"))
        options = ("--label", "intent", "--text", "text")
        found[f"{n_rows} rows an intent"] = command(*files, *options, folder=folder)
    return found


def cells(real: Path, folder: Path) -> dict:
    """Blood cells, half of each type as reference; one type in turn is left out of it."""
    import anndata

    data = anndata.read_h5ad(real / "pbmc68k_reduced.h5ad")
    kinds = np.asarray(data.obs["bulk_labels"].astype(str))
    half = np.random.default_rng(0).permutation(len(kinds)) % 2 == 0
    files = str(folder / "reference.h5ad"), str(folder / "query.h5ad")
    query = data[~half].copy()
    del query.obs["bulk_labels"]
    query.write_h5ad(files[1])
    found = {}
    for hidden in sorted(set(kinds)):
        train = half & (kinds != hidden)
        data[train].copy().write_h5ad(files[0])
        few = {kind for kind in set(kinds[train]) if (kinds[train] == kind).sum() < 10}
        truth = float(np.isin(kinds[~half], [hidden, *few]).mean())
        options = ("--label", "obs/bulk_labels", "--features", "obsm/X_pca")
        answer = command(*files, *options, folder=folder)
        found[hidden] = {"truth": round(truth, 4), **answer, "too few to learn": sorted(few)}
    return found


def predictions() -> dict:
    """Shares from the scores of three classifiers, beside those from the features.

    Digits 7 to 9, or two soils of the satellite images, are in no labelled row.
    """
    from sklearn.datasets import load_digits
    from sklearn.preprocessing import StandardScaler

    from unseen.datasets import load_dataset

    satimage = load_dataset("satimage")
    soils = StandardScaler().fit_transform(np.asarray(satimage.X, dtype=float))
    return {
        "digits": _predicted(*load_digits(return_X_y=True), hidden=(7, 8, 9)),
        "satimage": _predicted(soils, np.asarray(satimage.y), hidden=(2, 5)),
    }


def _predicted(X, y, hidden: tuple[int, ...]) -> list[dict]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import unseen

    models = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "random forest": RandomForestClassifier(200, random_state=0),
        "naive Bayes": GaussianNB(var_smoothing=1e-2),
    }
    is_known, found = ~np.isin(y, hidden), []
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(y))
        known, other = order[is_known[order]], order[~is_known[order]]
        learn, hold, new = known[:400], known[400:800], known[800:1150]
        for n_unseen in (0, 150):
            batch = np.concatenate([new, other[:n_unseen]])
            counts = [np.sum(y[new] == label) for label in np.unique(y[is_known])]
            truth = np.array([*counts, n_unseen]) / len(batch)
            row = {"seed": seed, "truth": round(float(truth[-1]), 3)}
            options = {"random_state": 0, "confidence": None}
            answer = unseen.estimate(X[hold], y[hold], X[batch], **options)
            row["features"] = _errors(answer, truth)
            for name, model in models.items():
                model.fit(X[learn], y[learn])
                scores = model.predict_proba(X[hold]), y[hold], model.predict_proba(X[batch])
                answer = unseen.estimate_from_scores(*scores, **options)
                row[name] = _errors(answer, truth)
            found.append(row)
    return found


def _errors(answer, truth) -> dict:
    shares = np.append(answer.proportions, answer.unseen)
    return {
        "unseen": round(answer.unseen, 3),
        "total_error": round(float(np.abs(shares - truth).sum()), 3),
    }


def memory(folder: Path) -> dict:
    """100,000 embeddings of 768 single-precision numbers as TRAIN, 20,000 as NEW."""
    import pyarrow as pa
    import pyarrow.feather as pa_feather
    import pyarrow.parquet as pa_parquet

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 768)).astype(np.float32)

    def rows(count, classes, name):
        kind = rng.integers(0, classes, count)
        noise = rng.normal(0, 3, (count, 768)).astype(np.float32)
        X = centres[kind] + noise
        np.save(folder / f"{name}.npy", X)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
        table = pa.table({"emb": lists, **({"y": kind} if name == "X" else {})})
        pa_parquet.write_table(table, folder / f"{name}.parquet")
        pa_feather.write_feather(table, folder / f"{name}.feather")
        return kind

    np.save(folder / "y.npy", rows(100_000, 5, "X"))
    truth = float((rows(20_000, 6, "new") == 5).mean())
    size = (folder / "X.npy").stat().st_size
    labels = {"npy": ("--labels", str(folder / "y.npy"))}
    found = {"file_mb": round(size / MB), "truth": round(truth, 4)}
    for kind, limit in (("npy", 5_000), ("npy", 20_000), ("parquet", 20_000), ("feather", 20_000)):
        files = (str(folder / f"{name}.{kind}") for name in ("X", "new"))
        label = labels.get(kind, ("--label", "y"))
        answer = command(*files, *label, "--rows", str(limit), folder=folder)
        answer["mb_of_file"] = round(answer["mb"] * MB / size, 2)
        found[f"{kind}, {limit} rows used"] = answer
    return found


def _write_arff(table: pd.DataFrame, path: Path) -> None:
    names = "".join(f"@attribute {name} numeric\n" for name in table)
    path.write_text(f"@relation digits\n{names}@data\n{table.to_csv(index=False, header=False)}")


def formats(folder: Path) -> dict:
    """The same digits in every format: the answers must be those from csv, bit for bit."""
    import anndata
    import pyarrow as pa
    import pyarrow.feather as pa_feather
    import pyarrow.parquet as pa_parquet
    from sklearn.datasets import load_digits

    import unseen
    from unseen.study import Inputs

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train = order[y[order] < 7][:400]
    new = order[~np.isin(order, train)][:400]
    X = X.astype(np.float32)
    for name, rows in (("train", train), ("new", new)):
        labels = {"y": y[rows]} if name == "train" else {}
        np.save(folder / f"{name}.npy", X[rows])
        np.savez(folder / f"{name}.npz", emb=X[rows], **labels)
        lists = pa.table({"emb": list(X[rows]), **labels})
        pa_parquet.write_table(lists, folder / f"{name}.parquet")
        pa_feather.write_feather(lists, folder / f"{name}.feather")
        lines = (json.dumps(row) for row in lists.to_pylist())
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
        wide = pd.DataFrame(X[rows].astype(float)).add_prefix("f").assign(**labels)
        wide.to_csv(folder / f"{name}.csv", index=False)
        wide.to_csv(folder / f"{name}_excel.csv", index=False, sep=";", decimal=",")
        wide.to_excel(folder / f"{name}.xlsx", index=False)
        lists.to_pandas().assign(emb=[str(row.tolist()) for row in X[rows]]).to_csv(
            folder / f"{name}_lists.csv", index=False
        )
        _write_arff(wide, folder / f"{name}.arff")
        obs = pd.DataFrame(labels, index=[f"c{place}" for place in range(len(rows))])
        anndata.AnnData(obs=obs, obsm={"emb": X[rows]}).write_h5ad(folder / f"{name}.h5ad")
    np.save(folder / "y.npy", y[train])
    options = {
        "npy": {"labels": str(folder / "y.npy")},
        "h5ad": {"label": "obs/y", "features": ("obsm/emb",)},
    }
    found = {}
    for kind in _FORMATS:
        dot = "" if "." in kind else "."
        files = [str(folder / f"{name}{dot}{kind}") for name in ("train", "new")]
        label = options.get(kind, {"label": "y"})
        # In one process: where arrays lie in memory can change the last bit of a sum.
        training, new_rows = Inputs(*files, **label).read()
        answer = unseen.estimate(training.X, training.y, new_rows.X, random_state=0)
        found[kind] = [*answer.proportions.tolist(), answer.unseen]
    return {kind: {"unseen": one[-1], "equal": one == found["csv"]} for kind, one in found.items()}


def _found(part: str, real: Path, folder: Path, rows_an_intent: list[int]) -> dict:
    match part:
        case "formats":
            return formats(folder)
        case "memory":
            return memory(folder)
        case "predictions":
            return predictions()
        case "text":
            return text(real, folder, rows_an_intent)
    return cells(real, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("formats", "memory", "predictions", "text", "cells")
    parser.add_argument("parts", nargs="+", choices=parts)
    parser.add_argument("--real", type=Path, help="folder with the real data")
    parser.add_argument("--rows-an-intent", type=int, nargs="+", default=[20, 100])
    given = parser.parse_args()
    for part in given.parts:
        if part in ("text", "cells") and given.real is None:
            parser.error(f"{part} needs --real")
        with tempfile.TemporaryDirectory() as made:
            found = _found(part, given.real, Path(made), given.rows_an_intent)
        written = json.dumps(found, indent=1) + "\n"
        (RESULTS / f"inputs_{part}.json").write_text(written)
        print(part, written)


if __name__ == "__main__":
    main()
