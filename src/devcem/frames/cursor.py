"""Goes to frame i of an indexed video, and proves that it is frame i.

Containers seek where they like and decoders may start where they should not (open groups of pictures,
intra refresh, damage). So nothing is believed: the packets found after a seek are recognised by their bytes,
and the picture by its checksum. What cannot be proved is decoded again from further back, at last from the
start, where counting is the definition of i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any
from zlib import crc32

import av
import numpy as np

from devcem.errors import UserError
from devcem.frames.index import UNKNOWN, Index
from devcem.frames.pictures import fingerprint
from devcem.frames.reel import Reel, Step, stamp

NEAR = 8  # frames further on, going on is cheaper than seeking
AIMS = (0, 1, 4, 16)  # entries further back to aim at, for containers that land behind their aim
SEARCHED = 512  # packets looked at for one that is known
Numbered = tuple[int, Any]  # ordinal of a packet, packet


class Cursor:
    def __init__(self, index: Index, open_reel: Callable[[], Reel]) -> None:
        self.index, self.open_reel = index, open_reel
        self.reel: Reel | None = None
        self.entries = np.flatnonzero(index.frame_key & (index.frame_packet >= 0))  # [E] frames to start from
        self.frame_of = {int(packet): frame for frame, packet in enumerate(index.frame_packet) if packet >= 0}
        self._known = _recognition(index)
        self._steps: Iterator[Step] = iter(())
        self._at = -1  # the frame handed out last, -1 before the first
        self._from_start = False

    def picture(self, ordinal: int) -> av.VideoFrame | bytes:
        """Fast where asked in rising order."""
        last = int(np.searchsorted(self.entries, ordinal, "right")) - 1  # the entry at or before it
        for ready in self._ways(ordinal, last):
            if ready and (picture := self._go_on_to(ordinal)) is not None:
                return picture
        raise UserError(
            f"frame {ordinal} was there when the video was indexed and cannot be read any more",
            self.reel.path if self.reel else None,
            "has the file been changed meanwhile? Open it again",
        )

    def _ways(self, ordinal: int, last: int) -> Iterator[bool]:
        """Ways to come near that frame, the cheapest first, tried when asked for: True where it worked."""
        entry = int(self.entries[last]) if last >= 0 else 0
        yield self._at < ordinal and (entry <= self._at or ordinal - self._at <= NEAR)
        for nearby in (last, last - 1):
            yield nearby > 0 and self._start_at(nearby)
        yield self._start_over()

    def close(self) -> None:
        self._steps = iter(())
        if self.reel is not None:
            self.reel.close()
        self.reel = None

    def _go_on_to(self, ordinal: int) -> av.VideoFrame | bytes | None:
        """The picture, if it is certain to be that frame."""
        for step in self._steps:
            if step.picture is None:
                continue
            following = self._at + 1
            self._at = following if self._from_start else self.frame_of.get(step.packet, following)
            if self._at < ordinal:
                continue
            proved = self._from_start or fingerprint(step.picture) == self.index.frame_check[ordinal]
            return step.picture if self._at == ordinal and proved else None
        return None

    def _start_over(self) -> bool:
        self.close()
        self.reel = self.open_reel()
        self._steps, self._at, self._from_start = self.reel.from_start(), -1, True
        return True

    def _start_at(self, entry: int) -> bool:
        """Ready to decode from this entry's packet on; False where it could not be found."""
        self.reel = self.reel or self.open_reel()
        first = int(self.index.frame_packet[self.entries[entry]])
        for aim in dict.fromkeys(max(entry - back, 0) for back in AIMS):
            packet = int(self.index.frame_packet[self.entries[aim]])
            stamped, place = int(self.index.packet_stamp[packet]), int(self.index.packet_place[packet])
            if not self.reel.seek(
                None if stamped == UNKNOWN else stamped, None if place == UNKNOWN else place
            ):
                return False
            if (packets := self._found(first)) is not None:
                self._steps = self.reel.steps(packets)
                self._at, self._from_start = int(self.entries[entry]) - 1, False
                return True
        return False

    def _found(self, first: int) -> Iterator[Numbered] | None:
        """Packets from number *first* on, once those at hand have been recognised and counted up to it."""
        assert self.reel is not None
        packets = self.reel.packets()
        number = -1  # of the packet at hand, while unknown
        for looked_at, packet in enumerate(packets):
            check = crc32(packet)
            if number >= 0:
                number += 1
                if number >= len(self.index.packet_check) or self.index.packet_check[number] != check:
                    return None
            else:
                number = self._known.get((check, stamp(packet)), self._known.get((check, None), -1))
            if number == first:
                return chain([(first, packet)], enumerate(packets, first + 1))
            if number > first or (number < 0 and looked_at >= SEARCHED):
                return None
        return None


def _recognition(index: Index) -> dict[tuple[int, int | None], int]:
    """(checksum, time stamp), or (checksum, None) for containers of unsteady stamps -> number of the packet.

    What two packets share tells nothing and is left out.
    """
    known: dict[tuple[int, int | None], int] = {}
    shared: set[tuple[int, int | None]] = set()
    for number, (check, stamped) in enumerate(
        zip(index.packet_check.tolist(), index.packet_stamp.tolist(), strict=True)
    ):
        names: list[tuple[int, int | None]] = [(check, None)]
        if stamped != UNKNOWN:
            names.append((check, stamped))
        for name in names:
            if name in known:
                shared.add(name)
            known[name] = number
    return {name: number for name, number in known.items() if name not in shared}
