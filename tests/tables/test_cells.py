"""Single cells: embeddings and annotations of an AnnData file, and labels written back."""

import numpy as np
import pandas as pd
import pytest

from unseen.study import Inputs, run_classification
from unseen.tables import Source
from unseen.tables.cells import _any_text, _plain

pytestmark = pytest.mark.filterwarnings("ignore")  # anndata's own, of other packages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import anndata

    made = tmp_path_factory.mktemp("cells")
    rng = np.random.default_rng(0)
    for name, kinds in (("ref", ["B", "T"] * 40), ("query", ["B"] * 30 + ["NK"] * 15)):
        centres = np.array([{"B": [-4, 0], "T": [4, 0], "NK": [0, 7]}[kind] for kind in kinds])
        names = np.array([f"cell{place}" for place in range(len(kinds))], dtype=object)
        obs = pd.DataFrame({"kind": pd.Categorical(np.array(kinds, dtype=object))}, index=names)
        cells = anndata.AnnData(rng.poisson(1, (len(kinds), 3)).astype(np.float32), obs=obs)
        cells.obsm["X_pca"] = rng.normal(centres, 1)
        with _any_text():
            cells.write_h5ad(made / f"{name}.h5ad")
    return made


def test_annotations_and_embeddings_are_columns(folder):
    source = Source.find(folder / "ref.h5ad")
    assert source.columns() == ["obs/kind", "obsm/X_pca"]
    (batch,) = source.batches()
    assert batch["obs/kind"].to_pylist() == ["B", "T"] * 40
    assert len(batch["obsm/X_pca"][0]) == 2


def test_counts_are_refused_with_a_sentence(folder):
    for features in ((), ("X",)):
        with pytest.raises(
            ValueError, match=r"such as obsm/X_pca: counts of genes and annotations"
        ):
            Inputs(str(folder / "ref.h5ad"), "new.h5ad", label="obs/kind", features=features)


def test_labels_are_written_into_a_copy(folder):
    import anndata

    files = (str(folder / "ref.h5ad"), str(folder / "query.h5ad"))
    inputs = Inputs(*files, label="obs/kind", features=("obsm/X_pca",))
    out = folder / "labelled.h5ad"
    run_classification(inputs, out)
    found, before = anndata.read_h5ad(out), anndata.read_h5ad(folder / "query.h5ad")
    right = np.where(before.obs["kind"] == "NK", "unseen", before.obs["kind"].astype(str))
    assert (found.obs["unseen_predicted"].astype(str) == right).mean() > 0.9
    assert found.obs["unseen_novelty"].between(0, 1).all()
    assert "unseen_predicted" not in before.obs


def test_gaps_of_pandas_and_embeddings_without_columns_spoil_no_file(tmp_path) -> None:
    import anndata

    gaps = {
        "flag": pd.array([True, None, False], dtype="boolean"),
        "count": pd.array([1, None, 3], dtype="Int64"),
    }
    names = np.array(["c1", "c2", "c3"], dtype=object)
    obs = pd.DataFrame(gaps, index=names)
    cells = anndata.AnnData(np.ones((3, 1)), obs=obs)
    cells.obsm["X_none"], cells.obsm["X_pca"] = np.ones((3, 0)), np.ones((3, 2))
    with _any_text():
        cells.write_h5ad(tmp_path / "c.h5ad")
    (found,) = Source.find(tmp_path / "c.h5ad").batches()
    assert found.schema.names == ["obs/flag", "obs/count", "obsm/X_pca"]
    assert found["obs/flag"].to_pylist() == [True, None, False]
    assert found["obs/count"].to_pylist() == [1, None, 3]
    # Text that older releases of anndata cannot write.
    kinds = pd.Series(["a", None, "b"], dtype="string")
    assert _plain(kinds).to_pylist() == ["a", None, "b"]
