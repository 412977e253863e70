"""What a reader would tag, as pixels: a finding in; a patch of wall (focal) or a change (diffuse) out."""

from devcem.synthetic.lesions.diffuse import Change, diffuse, residue
from devcem.synthetic.lesions.flat import angioectasia, diverticulosis, erosion, haemorrhage, ulceration
from devcem.synthetic.lesions.patch import EXTENT, Draft, Patch, finish
from devcem.synthetic.lesions.raised import polyp, pseudopolyp, tumour
from devcem.synthetic.scene import Finding

SHAPES = {
    "erosion": erosion,
    "diverticulosis": diverticulosis,
    "haemorrhage": haemorrhage,
    "angioectasia": angioectasia,
    "polyp": polyp,
    "pseudopolyp": pseudopolyp,
    "tumour": tumour,
    "ulceration": ulceration,
}
FOCAL = tuple(SHAPES)
DIFFUSE = ("erythema", "granularity", "inflammation", "oedema")
LUMEN = ("debris", "bubbles")

__all__ = ["DIFFUSE", "EXTENT", "FOCAL", "LUMEN", "Change", "Patch", "diffuse", "grow", "residue"]


def grow(finding: Finding) -> Patch:
    """The patch of wall that a focal finding changes."""
    draft = Draft(finding)
    SHAPES[finding.kind](draft)
    return finish(draft)
