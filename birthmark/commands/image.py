"""``birthmark image``: the published model as one block that a kernel can hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birthmark.options import Options, with_options
from birthmark.outputs import Json, output, tell
from birthmark.serving.settings import Settings, variable


@with_options
def image(
    context: typer.Context,
    out: Annotated[Path, output("file to write")],
    wanted: Annotated[
        Settings, Options(("registry", "model", "point", "region"), variable=variable)
    ],
    hints: Annotated[
        bool,
        typer.Option(
            "--hints", help="compile only what file systems ask: HotName, HotDir and HotWrite"
        ),
    ] = False,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="write what says how likely each answer is, too, for libbirthmark",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Compile the published model into an image, which C looks up in without a service."""
    from birthmark.data.common.durable import replaced
    from birthmark.data.common.sizes import size
    from birthmark.predictor.allocation.verdicts import HINTS, Room, hint_image
    from birthmark.predictor.model_file import compile_model
    from birthmark.predictor.models.compile import compile_models
    from birthmark.serving.models.published import load_model
    from birthmark.training.registry.versions import Registry
    from birthmark_native import Image

    source = context.get_parameter_source("region")
    if not hints and source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter("expected --hints with it", param_hint="region")
    if hints and probabilities:
        raise typer.BadParameter("expected no --hints with it", param_hint="probabilities")
    loaded = load_model(Registry(wanted.registry), wanted.model, wanted.point)
    never = set(loaded.abstaining)
    if hints:
        never &= set(HINTS)
        room = Room.of(size(wanted.region))
        content = hint_image(loaded.trained, loaded.kind, loaded.point, room, never)
        predicates = len(Image(content).predicates)
    else:
        models = loaded.trained.of_kind(loaded.kind)
        predicates = len(models)
        if probabilities:
            content = compile_model(models, loaded.trained.worlds, loaded.point, never)
        else:
            content = compile_models(models, loaded.point, never)
    with replaced(out) as path:
        path.write_bytes(content)
    told = {
        "image": str(out),
        "version": loaded.version,
        "kind": loaded.kind,
        "point": loaded.point,
        "predicates": predicates,
        "bytes": len(content),
        "abstaining": sorted(never),
    }
    tell(told, as_json)
