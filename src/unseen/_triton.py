"""Products of a tall array with a few columns, at the speed at which a card reads the array.

The libraries of the card take twice as long: their tiles are made for many columns. Numbers are
split into three parts each for the matrix units, which keeps the precision of single precision.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["product", "transposed_product"]

_ROWS, _STEP, _SPLIT = 256, 32, 2048  # rows of a block, steps inside, rows of a partial sum


@triton.jit
def _product(
    design,
    right,
    out,
    n_rows,
    width,
    stride,
    n_columns,
    ROWS: tl.constexpr,
    STEP: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, width, STEP):
        inner = start + tl.arange(0, STEP)
        there = (rows < n_rows)[:, None] & (inner < width)[None, :]
        left = tl.load(design + rows[:, None] * stride + inner[None, :], mask=there, other=0.0)
        there = (inner < width)[:, None] & (columns < n_columns)[None, :]
        some = tl.load(right + inner[:, None] * n_columns + columns[None, :], mask=there, other=0.0)
        total = tl.dot(left, some, total, input_precision="tf32x3")
    there = (rows < n_rows)[:, None] & (columns < n_columns)[None, :]
    tl.store(out + rows[:, None] * n_columns + columns[None, :], total, mask=there)


@triton.jit
def _transposed(
    design,
    left,
    out,
    n_rows,
    width,
    stride,
    n_columns,
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
        turned = tl.load(design + inner[None, :] * stride + places[:, None], mask=there, other=0.0)
        there = (inner < n_rows)[:, None] & (columns < n_columns)[None, :]
        some = tl.load(left + inner[:, None] * n_columns + columns[None, :], mask=there, other=0.0)
        total = tl.dot(turned, some, total, input_precision="tf32x3")
    there = (places < width)[:, None] & (columns < n_columns)[None, :]
    out += part * width * n_columns
    tl.store(out + places[:, None] * n_columns + columns[None, :], total, mask=there)


def product(
    design: torch.Tensor,
    right: torch.Tensor,
    out: torch.Tensor,
    rows: int = _ROWS,
    step: int = _STEP,
    **options: int,
) -> None:
    """``design @ right``, into ``out``; these two must be whole in memory."""
    (n_rows, width), n_columns = design.shape, right.shape[1]
    sizes = n_rows, width, design.stride(0), n_columns
    blocks = rows, step, max(16, triton.next_power_of_2(n_columns))
    _product[(triton.cdiv(n_rows, rows),)](design, right, out, *sizes, *blocks, **options)


def transposed_product(
    left: torch.Tensor,
    design: torch.Tensor,
    split: int = _SPLIT,
    rows: int = _ROWS,
    step: int = _STEP,
    **options: int,
) -> torch.Tensor:
    """``design.T @ left`` for some rows at a time, to be added up: (parts, width, columns)."""
    (n_rows, width), n_columns = design.shape, left.shape[1]
    n_parts = triton.cdiv(n_rows, split)
    out = torch.empty((n_parts, width, n_columns), dtype=left.dtype, device=left.device)
    sizes = n_rows, width, design.stride(0), n_columns
    blocks = split, rows, step, max(16, triton.next_power_of_2(n_columns))
    _transposed[(triton.cdiv(width, rows), n_parts)](design, left, out, *sizes, *blocks, **options)
    return out
