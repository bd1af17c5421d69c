"""Products of a tall array with a few columns, nearly as fast as a card reads the array.

The libraries of the card take longer: their tiles are made for many columns. Each number is split
for the matrix units, three products for one, which keeps what single precision has.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

MOST_COLUMNS = 32
_ROWS, _STEP, _SPLIT = 128, 64, 2048  # rows of a block, steps inside, rows of a partial sum
_OPTIONS = {"num_warps": 4, "num_stages": 3}  # with these sizes the fastest of many on an H200


@triton.jit
def _product(
    design, right, out, n_rows, width, ROWS: tl.constexpr, STEP: tl.constexpr, COLUMNS: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, width, STEP):
        inner = start + tl.arange(0, STEP)
        there = (rows < n_rows)[:, None] & (inner < width)[None, :]
        left = tl.load(design + rows[:, None] * width + inner[None, :], mask=there, other=0.0)
        there = (inner < width)[:, None]
        some = tl.load(right + inner[:, None] * COLUMNS + columns[None, :], mask=there, other=0.0)
        total = tl.dot(left, some, total, input_precision="tf32x3")
    places = out + rows[:, None] * COLUMNS + columns[None, :]
    tl.store(places, total, mask=(rows < n_rows)[:, None])


@triton.jit
def _transposed(
    design,
    left,
    out,
    n_rows,
    width,
    SPLIT: tl.constexpr,
    ROWS: tl.constexpr,
    STEP: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    places, columns = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    part = tl.program_id(1).to(tl.int64)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, SPLIT, STEP):
        inner = part * SPLIT + start + tl.arange(0, STEP)
        there = (places < width)[:, None] & (inner < n_rows)[None, :]
        turned = tl.load(design + inner[None, :] * width + places[:, None], mask=there, other=0.0)
        there = (inner < n_rows)[:, None]
        some = tl.load(left + inner[:, None] * COLUMNS + columns[None, :], mask=there, other=0.0)
        total = tl.dot(turned, some, total, input_precision="tf32x3")
    out += part * width * COLUMNS
    there = (places < width)[:, None]
    tl.store(out + places[:, None] * COLUMNS + columns[None, :], total, mask=there)


def product(design: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """``design @ right`` for a design without gaps in memory."""
    (n_rows, width), right = design.shape, _padded(right)
    out = torch.empty((n_rows, right.shape[1]), dtype=right.dtype, device=right.device)
    blocks, grid = (_ROWS, _STEP, right.shape[1]), (triton.cdiv(n_rows, _ROWS),)
    _product[grid](design, right, out, n_rows, width, *blocks, **_OPTIONS)
    return out


def transposed_product(left: torch.Tensor, design: torch.Tensor) -> torch.Tensor:
    """``design.T @ left`` for some rows at a time, to be added up: (parts, width, columns)."""
    (n_rows, width), left = design.shape, _padded(left)
    n_parts = triton.cdiv(n_rows, _SPLIT)
    out = torch.empty((n_parts, width, left.shape[1]), dtype=left.dtype, device=left.device)
    blocks, grid = (_SPLIT, _ROWS, _STEP, left.shape[1]), (triton.cdiv(width, _ROWS), n_parts)
    _transposed[grid](design, left, out, n_rows, width, *blocks, **_OPTIONS)
    return out


def _padded(columns: torch.Tensor) -> torch.Tensor:
    """The columns and as many of zeros as make 16 or 32: rows then start where loads like it."""
    n_columns = 16 if columns.shape[1] <= 16 else MOST_COLUMNS
    return torch.nn.functional.pad(columns, (0, n_columns - columns.shape[1])).contiguous()
