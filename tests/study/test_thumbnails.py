"""Small pictures of rows: what is shown, how small it is, and what no name can reach."""

import base64
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unseen.study import Inputs, run_explanation
from unseen.study.thumbnails import data_uri, picture_file

Image = pytest.importorskip("PIL.Image")


def picture(shape: tuple[int, ...], dtype: type = np.uint8, seed: int = 0) -> Any:
    values = np.random.RandomState(seed).randint(0, 255, shape)
    return Image.fromarray(values.astype(dtype))


def written(image: Any, **options) -> BytesIO:
    content = BytesIO()
    image.save(content, **{"format": "png", **options})
    content.seek(0)
    return content


def shown(uri: str) -> Any:
    head, _, content = uri.partition(";base64,")
    assert head in ("data:image/png", "data:image/jpeg")
    return Image.open(BytesIO(base64.b64decode(content)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a picture and a text; a picture outside, and a link that leads to it."""
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    picture((9, 9)).save(inside / "deep" / "cat.png")
    (inside / "page.png").write_text("<svg onload=alert(1)>")
    picture((9, 9)).save(tmp_path / "secret.png")
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    return inside


def test_a_name_is_looked_up_in_the_folder(folder) -> None:
    assert picture_file("deep/cat.png", folder) == folder.resolve() / "deep" / "cat.png"
    assert picture_file(str(folder / "deep" / "cat.png"), folder) is not None
    assert data_uri(picture_file("page.png", folder)) is None


def test_no_name_leads_out_of_the_folder_or_to_the_network(folder) -> None:
    outside = str(folder.parent / "secret.png")
    assert data_uri(Path(outside)) is not None
    names = [outside, "../secret.png", "deep/../../secret.png", "link.png", "", ".", "no.png"]
    names += ["http://127.0.0.1/cat.png", "file://" + outside, "cat\0.png", "x" * 5000]
    for cell in (*names, None, 7, 1.5, {"bytes": None, "path": "../secret.png"}):
        assert picture_file(cell, folder) is None


def test_bytes_and_records_of_bytes_are_pictures(folder) -> None:
    content = written(picture((9, 9))).getvalue()
    for cell in (content, {"bytes": content, "path": "anything"}, {"path": "deep/cat.png"}):
        assert shown(data_uri(picture_file(cell, folder))).size == (63, 63)


@pytest.mark.parametrize(
    "image",
    [
        picture((400, 300, 3)),  # noise is the hardest to make small
        picture((200, 300)),
        picture((500, 20, 4)),
        picture((80, 80), np.int32),
        picture((80, 80), np.uint16),
        picture((80, 80)).convert("1"),
        picture((80, 80)).convert("P"),
    ],
    ids=lambda image: image.mode,
)
def test_a_picture_is_small_in_pixels_and_bytes(image) -> None:
    uri = data_uri(written(image, format="tiff"))
    small = shown(uri)
    assert max(small.size) <= 64
    assert small.mode in ("L", "RGB")
    assert len(uri) <= 1_700


def test_pixels_of_a_tiny_picture_stay_sharp() -> None:
    tiny = picture((8, 8))
    large = np.asarray(shown(data_uri(written(tiny))))
    sharp = np.kron(np.asarray(tiny), np.ones((8, 8)))
    assert abs(large - sharp).max() <= 2  # where JPEG is smaller, it rounds


def test_counts_of_instruments_are_spread_over_all_greys() -> None:
    counts = Image.fromarray(np.linspace(1000, 9000, 64 * 64).reshape(64, 64).astype(np.uint16))
    values = np.asarray(shown(data_uri(written(counts))))
    assert values.min() < 5
    assert values.max() > 250


def test_what_is_clear_is_white_and_a_turned_picture_stands_upright() -> None:
    clear = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    assert shown(data_uri(written(clear))).getpixel((20, 20)) == (255, 255, 255)
    turned = Image.new("RGB", (60, 30))
    exif = turned.getexif()
    exif[0x0112] = 6
    assert shown(data_uri(written(turned, format="jpeg", exif=exif))).size == (30, 60)


def test_broken_and_enormous_pictures_are_not_shown(monkeypatch) -> None:
    content = written(picture((90, 90, 3))).getvalue()
    assert data_uri(BytesIO(content[:200])) is None
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 5000)
    assert data_uri(BytesIO(content)) is None


def test_without_pillow_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r'need Pillow.* pip install "unseen\[images\]"'):
        run_explanation(Inputs("train.csv", "new.csv", "kind"), image_column="picture")
