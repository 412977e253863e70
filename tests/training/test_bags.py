"""What a bag holds: which frames, which view, which flips; drawn by seed, epoch and index alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from toy_bags import settings
from toy_gut import CLASSES, SIDE

from devcem.errors import UserError
from devcem.frames import stratified, uniform
from devcem.labels import Dataset, Segment, load_dataset
from devcem.training.bags import FeatureBags, FrameBags, sampled
from devcem.training.settings import Data

VIEW = {"view": "frame"}


def numbered(frames: int, views: int = 0, **data: object) -> FeatureBags:
    """One bag whose features are frame numbers; view v adds 1000 v."""
    told = settings(data=data).data
    plain = np.arange(frames, dtype=np.float32)[:, None]
    more = np.stack([plain + 1000 * (v + 1) for v in range(views)]) if views else None
    return FeatureBags(["a"], [plain], np.ones((1, 1), bool), None, told, None if more is None else [more])


def drawn(bags: FeatureBags, epoch: int) -> list[float]:
    features = bags.draw(0, epoch).features
    assert features is not None
    return features[:, 0].tolist()


def test_stratified_frames_change_with_the_epoch_and_cover_all() -> None:
    bags = numbered(20, window=5)
    seen = Counter(number for epoch in range(200) for number in drawn(bags, epoch))
    assert set(seen) == set(range(20))
    assert all(len(drawn(bags, epoch)) == 5 for epoch in range(5))
    assert drawn(bags, 3) == drawn(bags, 3)
    assert drawn(bags, 3) != drawn(bags, 4)


def test_uniform_frames_never_change() -> None:
    bags = numbered(20, window=5, sampling="uniform")
    assert drawn(bags, 0) == drawn(bags, 9) == [2, 6, 10, 14, 18]  # middles of stretches of four


def test_a_judged_bag_is_always_the_same() -> None:
    bags = numbered(20, views=2, window=5)
    found = [bags.judge(0).features for _ in range(2)]
    assert all(one is not None and one[:, 0].tolist() == [2, 6, 10, 14, 18] for one in found)


def test_the_plain_view_and_the_augmented_ones_come_up_alike() -> None:
    bags = numbered(6, views=2)
    views = Counter(int(drawn(bags, epoch)[0] // 1000) for epoch in range(300))
    assert set(views) == {0, 1, 2}
    assert all(70 < count < 130 for count in views.values())  # 100 each: 3.7 deviations of a binomial
    frames = drawn(bags, 1)
    assert {int(number // 1000) for number in frames} == {int(frames[0] // 1000)}  # one view a bag


def test_short_segments_stay_whole() -> None:
    rng = np.random.default_rng(0)
    assert sampled(3, Data(), rng).tolist() == [0, 1, 2]
    told = Data(window=4)
    assert sampled(9, told, None).tolist() == uniform(9, 4).tolist()
    same = [np.random.default_rng(5) for _ in range(2)]
    assert sampled(9, told, same[0]).tolist() == stratified(9, 4, same[1]).tolist()


def test_lengths_must_fit() -> None:
    with pytest.raises(ValueError, match="of one length"):
        FeatureBags(["a", "b"], [np.zeros((2, 1), np.float32)], np.ones((2, 1), bool))


@pytest.fixture(scope="module")
def corner(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Ten equal frames with one white corner, which tells every flip."""
    root = tmp_path_factory.mktemp("corner")
    (root / "media" / "s").mkdir(parents=True)
    frame = np.zeros((SIDE, SIDE, 3), np.uint8)
    frame[: SIDE // 2, : SIDE // 2] = 255
    for number in range(10):
        Image.fromarray(frame).save(root / "media" / "s" / f"{number + 100}.png")
    segments = [
        Segment("whole", "s", 100, 110, "p", "train", ("red",), ("never",)),
        Segment("two", "s", 104, 106, "p", "train"),
        Segment("nowhere", "s", 200, 210, "p", "train"),
    ]
    return Dataset(root, "corner", CLASSES, segments)


def frames_of(bags: FrameBags, epoch: int | None, index: int = 0) -> torch.Tensor:
    frames = (bags.judge(index) if epoch is None else bags.draw(index, epoch)).frames
    assert frames is not None and frames.dtype == torch.uint8
    return frames


def test_frames_of_a_segment(corner: Dataset) -> None:
    bags = FrameBags(corner, corner.segments, 20, settings(data={**VIEW, "window": 4}).data)
    bag = bags.judge(0)
    assert bag.id == "whole"
    assert bag.labels.tolist() == [1, 0, 0]
    assert bag.known.tolist() == [True, True, False]
    assert frames_of(bags, None).shape == (4, 3, 20, 20)
    assert frames_of(bags, None, 1).shape == (2, 3, 20, 20)
    picture = frames_of(bags, None)[0, 0].float()
    assert picture[:9, :9].min() > 250 and picture[11:].max() < 5 and picture[:, 11:].max() < 5


def test_what_is_drawn_is_drawn_once_a_segment(corner: Dataset) -> None:
    bags = FrameBags(corner, corner.segments, 20, settings(data=VIEW).data)
    looks = []
    for epoch in range(24):
        frames = frames_of(bags, epoch)
        assert len(frames) == 10
        assert torch.equal(frames, frames[:1].expand_as(frames))  # all frames alike
        looks.append(tuple(frames[0, 0, y, x].item() > 127 for y in (1, -2) for x in (1, -2)))
    assert {look for look in looks if sum(look) == 1} == {  # all four flips of the corner
        tuple(place == corner for place in range(4)) for corner in range(4)
    }
    assert torch.equal(frames_of(bags, 3), frames_of(bags, 3))
    assert not all(torch.equal(frames_of(bags, 0), frames_of(bags, epoch)) for epoch in range(1, 9))


def test_nothing_is_flipped_where_it_is_not_asked_for(corner: Dataset) -> None:
    bags = FrameBags(corner, corner.segments, 20, settings(data={**VIEW, "augment": False}).data)
    for epoch in range(6):
        assert torch.equal(frames_of(bags, epoch), frames_of(bags, None))


def test_a_segment_without_frames_is_named(corner: Dataset) -> None:
    bags = FrameBags(corner, corner.segments, 20, settings(data=VIEW).data)
    with pytest.raises(UserError, match=r"segment nowhere has no frames in its source.*devcem data check"):
        bags.judge(2)


def test_labels_of_a_dataset_on_disk(gut: Path) -> None:
    data = load_dataset(gut)
    bags = FrameBags(data, data.segments, 20, settings(data=VIEW).data)
    assert bags.ids[:4] == ["p0s0", "p0s1", "p0s2", "p1s0"]
    assert bags.labels[:4].tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]]
    assert [len(frames_of(bags, None, index)) for index in range(3)] == [len(s) for s in data.segments[:3]]
