from __future__ import annotations

import numpy as np

from devcem.synthetic.contact_sheet import LABEL, contact_sheet


def test_a_row_a_class_and_a_column_a_patient() -> None:
    sheet = np.asarray(contact_sheet(columns=2, side=64, kinds=("normal", "ulceration")))
    assert sheet.shape == (128, LABEL + 128, 3)
    cells = [
        sheet[r * 64 : r * 64 + 64, LABEL + c * 64 : LABEL + c * 64 + 64] for r in (0, 1) for c in (0, 1)
    ]
    for i, cell in enumerate(cells):
        assert cell[16:48, 16:48].mean() > 20
        assert all(not np.array_equal(cell, other) for other in cells[:i])
    assert sheet[:, :LABEL].max() > 150  # names
