"""The model folder: model.safetensors, model.json and a model card. Read and written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError

from devcem.config import checked
from devcem.encoders import Backbone, empty_backbone
from devcem.encoders.weights import sha256
from devcem.errors import UserError
from devcem.files import building, write_text, writing
from devcem.labels.spelling import nearest
from devcem.methods import Method, create
from devcem.model.card import card
from devcem.model.info import FORMAT, Built, ModelInfo
from devcem.model.model import Model

TENSORS, INFO, CARD = "model.safetensors", "model.json", "README.md"
METHOD, BACKBONE = "method.", "backbone."  # prefixes of tensor names
AGAIN = "copy the folder again; its files belong together"


def save_model(folder: str | Path, model: Model, overwrite: bool = True) -> Path:
    """Write the folder beside its place and rename it."""
    folder = Path(folder)
    tensors = {METHOD + name: value for name, value in model.method.state_dict().items()}
    tensors |= {BACKBONE + name: value for name, value in model.backbone.network.state_dict().items()}
    plain = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    with building(folder, {"model": model.info.method}, overwrite=overwrite) as partial:
        with writing(partial / TENSORS, "wb") as file:
            file.write(safetensors.torch.save(plain))
        info = model.info.model_copy(update={"tensors": sha256(partial / TENSORS)})
        write_text(partial / INFO, info.model_dump_json(indent=1))
        write_text(partial / CARD, card(info))
        (partial / "recipe.json").unlink()
    return folder


def load_model(path: str | Path, engine: str = "auto", device: str = "auto") -> Model:
    """The model in a folder that `devcem train` or `save_model` wrote; a run's folder will do."""
    folder = _folder(Path(path))
    info = _info(folder / INFO)
    tensors = _tensors(folder / TENSORS, info.tensors)
    method, backbone = _empty(info, folder / INFO)
    _fill(method, tensors, METHOD, folder)
    _fill(backbone.network, tensors, BACKBONE, folder)
    return Model(info, method.eval(), backbone, engine, device)


def _folder(path: Path) -> Path:
    """Where the files lie: *path*, below the folder of a run, or beside it after a kill between renames."""
    if not path.name:  # "." has no name to look beside
        path = path.resolve()
    for folder in (path, path / "model", path.with_name(f".{path.name}.old"), path / ".model.old"):
        if (folder / INFO).is_file() and (folder / TENSORS).is_file():
            return folder
    near = None
    if path.parent.is_dir() and not path.exists():
        near = nearest(path.name, [other.name for other in path.parent.iterdir()])
    remedy = f"did you mean {near}?" if near else "give the folder that devcem train wrote"
    raise UserError(f"this is not a model folder: {INFO} and {TENSORS} are not there", path, remedy)


def _info(path: Path) -> ModelInfo:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"this is not JSON ({error})", path, AGAIN) from error
    if not isinstance(content, dict):
        raise UserError("this does not describe a model", path, AGAIN)
    if isinstance(written := content.get("format"), int) and written > FORMAT:
        what = f"written by a newer DeVCEM: format {written}, and this one reads up to {FORMAT}"
        raise UserError(what, path, "pip install --upgrade devcem")
    return checked(ModelInfo, content, path)


def _tensors(path: Path, checksum: str) -> dict[str, torch.Tensor]:
    try:
        tensors = safetensors.torch.load_file(path)
    except (SafetensorError, OSError) as error:
        raise UserError(f"cannot be read ({error})", path, AGAIN) from error
    if sha256(path) != checksum:
        raise UserError(f"these are not the tensors that {INFO} was written with", path, AGAIN)
    return tensors


def _empty(info: ModelInfo, path: Path) -> tuple[Method, Backbone]:
    """The method and the backbone that *info* names, their tensors still to be filled in."""
    checked(Built, {"backbone": info.backbone}, path)
    try:
        method = create(
            info.method, num_classes=len(info.classes), feature_dim=info.feature_dim, **info.options
        )
        return method, empty_backbone(info.backbone)
    except UserError as error:  # a method of the user's own that is not registered here, or an older timm
        raise UserError(error.what, path, error.remedy) from error


def _fill(module: torch.nn.Module, tensors: dict[str, torch.Tensor], prefix: str, folder: Path) -> None:
    state = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        reason = reason if len(reason) < 200 else f"{reason[:200]}..."
        raise UserError(
            f"the tensors do not fit what {INFO} names: {reason}", folder / TENSORS, AGAIN
        ) from error
