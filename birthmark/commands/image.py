"""``birthmark models image``: the published model for C programs and kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birthmark.options import Options, with_options
from birthmark.outputs import Json, output, print_result
from birthmark.serving.settings import Settings, variable


@with_options
def image(
    context: typer.Context,
    out: Annotated[Path, output("file to write")],
    published: Annotated[
        Settings, Options(("registry", "model", "point", "region"), variable=variable)
    ],
    hints: Annotated[
        bool,
        typer.Option("--hints", help="compile only HotName, HotDir and HotWrite, for file systems"),
    ] = False,
    as_json: Json = False,
) -> None:
    """Compile the published model into an image for C and kernels."""
    from birthmark.data.common.durable import output as output_file
    from birthmark.data.common.sizes import size
    from birthmark.predictor.allocation.verdicts import HINTS, RegionCapacity, hint_image
    from birthmark.predictor.models.compile import compile_models
    from birthmark.serving.models.loaded import load_model
    from birthmark.training.registry.versions import Registry
    from birthmark_native import Image

    source = context.get_parameter_source("region")
    if not hints and source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter("expected --hints with it", param_hint="region")
    loaded = load_model(Registry(published.registry), published.model, published.point)
    never = set(loaded.abstaining)
    if hints:
        never &= set(HINTS)
        room = RegionCapacity.of(size(published.region))
        content = hint_image(loaded.trained, loaded.kind, loaded.point, room, never)
        predicates = len(Image(content).predicates)
    else:
        models = loaded.trained.of_kind(loaded.kind)
        predicates = len(models)
        content = compile_models(models, loaded.point, loaded.trained.assignments, never)
    with output_file(out) as path:
        path.write_bytes(content)
    summary = {
        "image": str(out),
        "version": loaded.version,
        "kind": loaded.kind,
        "point": loaded.point,
        "predicates": predicates,
        "bytes": len(content),
        "abstaining": sorted(never),
    }
    print_result(summary, as_json)
