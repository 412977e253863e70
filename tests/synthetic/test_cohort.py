from __future__ import annotations

import numpy as np
import pytest

from devcem.labels import PATHOLOGIES
from devcem.synthetic.cohort import BOWEL_DISEASE, deal, people
from devcem.synthetic.table1 import PRESETS, label_sets


def paper_videos() -> list[tuple[str, ...]]:
    margins = PRESETS["paper"].splits
    return [labels for split in ("train", "test") for labels in label_sets(margins[split], 0)]


def test_forty_patients_share_the_papers_videos() -> None:
    videos = paper_videos()
    dealt = deal(videos, 40, seed=0)
    assert set(dealt) == set(range(40))
    for name in PATHOLOGIES:
        owners = {owner for owner, labels in zip(dealt, videos, strict=True) if name in labels}
        assert len(owners) >= 2, name
    assert dealt == deal(videos, 40, seed=0)


def test_diseases_keep_together() -> None:
    """Bowel disease lies in fewer patients than a deal by chance would put it in."""
    videos = paper_videos()
    sick = np.array([bool(BOWEL_DISEASE & set(labels)) for labels in videos])

    def unevenness(dealt: np.ndarray) -> float:
        shares = [sick[dealt == patient].mean() for patient in range(40) if (dealt == patient).any()]
        return float(np.std(shares))

    by_chance = [unevenness(np.random.default_rng(n).integers(40, size=len(videos))) for n in range(5)]
    assert unevenness(np.array(deal(videos, 40, seed=0))) > max(by_chance)


@pytest.mark.parametrize("seed", range(10))
def test_two_videos_of_a_rare_class_have_two_patients(seed: int) -> None:
    videos: list[tuple[str, ...]] = [("angioectasia",), ("angioectasia",), *[("normal",)] * 6]
    dealt = deal(videos, 2, seed)
    assert dealt[0] != dealt[1]


def test_more_patients_than_videos() -> None:
    with pytest.raises(ValueError, match="1 videos cannot come from 2 patients"):
        deal([("polyp",)], 2, 0)


def test_people_are_different() -> None:
    patients = people(5, 0)
    assert [patient.id for patient in patients] == ["P001", "P002", "P003", "P004", "P005"]
    assert len({patient.seed for patient in patients}) == 5
    assert patients == people(5, 0)
