"""Each module has a test of its own name, or a reason: the test that goes through it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ["data", "features", "predictor", "training", "serving", "layout_hint", "storage"]

THROUGH = {
    # Nothing but declarations, which others' tests read.
    "data/common/arrays.py": "tests/predictor/fit/test_calibration.py",
    "data/schema.py": "tests/data/ingest/test_run.py",
    "data/settings.py": "tests/birthmark/test_options.py",
    "serving/messages/errors.py": "tests/serving/messages/test_error_responses.py",
    "serving/messages/html.py": "tests/serving/messages/test_error_responses.py",
    "serving/messages/responses.py": "tests/serving/app/test_openapi.py",
    "serving/metrics/last_night.py": "tests/serving/test_monitoring.py",
    "serving/service/service.py": "tests/serving/app/test_routes.py",
    "training/nightly/rehearsal.py": "tests/training/test_commands.py",
    "training/evaluate/means.py": "tests/training/reports/test_verdict.py",
    "training/reports/labels.py": "tests/training/reports/test_report.py",
    "layout_hint/comparison/grid.py": "tests/layout_hint/test_grid.py",
    "layout_hint/comparison/figures.py": "tests/layout_hint/report/test_tables.py",
    "layout_hint/settings.py": "tests/birthmark/test_options.py",
    "layout_hint/f2fs/births.py": "tests/layout_hint/f2fs/test_learned.py",
    "layout_hint/f2fs/settings.py": "tests/layout_hint/f2fs/test_f2fs_command.py",
    "storage/settings.py": "tests/storage/test_validate.py",
    "storage/papers/page.py": "tests/storage/papers/test_claims.py",
    "storage/papers/run.py": "tests/storage/papers/test_claims.py",
    "layout_hint/disks/libparam.py": "tests/layout_hint/disks/test_disksim.py",
    "layout_hint/disks/drive.py": "tests/layout_hint/disks/test_read.py",
    "storage/attached/loads.py": "tests/storage/attached/test_serve.py",
    "storage/attached/systems.py": "tests/storage/attached/test_serve.py",
    "storage/papers/attached_runs.py": "tests/storage/papers/test_attached_disks.py",
    "storage/papers/attached_draw.py": "tests/storage/papers/test_attached_disks.py",
    "storage/papers/nfs_measure.py": "tests/storage/papers/test_nfs_tricks.py",
    "storage/papers/nfs_pictures.py": "tests/storage/papers/test_nfs_tricks.py",
    "storage/papers/nfs_runs.py": "tests/storage/papers/test_nfs_tricks.py",
    "storage/papers/nfs_values.py": "tests/storage/papers/test_nfs_tricks.py",
    "storage/papers/io_experiments.py": "tests/storage/papers/test_io_optimizations.py",
    "storage/papers/io_figures.py": "tests/storage/papers/test_io_optimizations.py",
    "storage/papers/io_fits.py": "tests/storage/papers/test_io_optimizations.py",
    "storage/papers/io_pictures.py": "tests/storage/papers/test_io_optimizations.py",
    "storage/papers/io_reads.py": "tests/storage/papers/test_io_optimizations.py",
    "storage/papers/io_trends.py": "tests/storage/papers/test_io_optimizations.py",
    "storage/loads/read.py": "tests/storage/loads/test_load.py",
    "storage/what_if/": "tests/storage/what_if/test_fit.py",
    "serving/address.py": "tests/serving/client/test_client.py",
    # Steps of one program, which is tested by what goes in and what comes out.
    "data/anonymize/run.py": "tests/data/anonymize/test_claim.py",
    "data/follow/": "tests/data/follow/test_follow.py",
    "data/replay/": "tests/data/replay/test_run.py",
    "data/scan/": "tests/data/scan/test_count.py",
    "data/top/": "tests/data/top/test_load.py",
    "data/workloads/": "tests/data/workloads/test_generate.py",
    "features/": "tests/features/test_encoding.py",
    "predictor/": "tests/predictor/test_trained.py",
    "layout_hint/report/": "tests/layout_hint/report/test_pictures.py",
    "layout_hint/comparison/compare.py": "tests/layout_hint/test_layout_command.py",
    "layout_hint/replay/conditions.py": "tests/layout_hint/report/test_tables.py",
    "layout_hint/replay/model_image.py": "tests/layout_hint/test_layout_command.py",
    "layout_hint/comparison/options.py": "tests/layout_hint/test_layout_command.py",
    "layout_hint/replay/runs.py": "tests/layout_hint/test_layout_command.py",
    "layout_hint/study.py": "tests/layout_hint/test_layout_command.py",
    "training/audit/figures.py": "tests/birthmark/test_audit.py",
    "training/audit/page.py": "tests/birthmark/test_audit.py",
    "training/audit/run.py": "tests/birthmark/test_audit.py",
    "training/evaluate/assessment.py": "tests/training/reports/test_report.py",
    "training/evaluate/cases.py": "tests/training/evaluate/test_evaluation.py",
    "training/evaluate/parallel.py": "tests/training/test_engine.py",
    "training/learn/profile.py": "tests/training/audit/test_shifts.py",
    "training/nightly/candidate.py": "tests/training/nightly/test_run.py",
    "training/nightly/reproduce.py": "tests/training/test_models_commands.py",
    "training/reports/evaluation_run.py": "tests/training/test_commands.py",
    "training/reports/terminal.py": "tests/training/test_commands.py",
    # Parts of the service, which is tested over its connections.
    "serving/access/guard.py": "tests/serving/access/test_tokens.py",
    "serving/answers/histories.py": "tests/serving/test_live.py",
    "serving/answers/arrow_messages.py": "tests/serving/answers/test_arrow_answers.py",
    "serving/app/application.py": "tests/serving/app/test_routes.py",
    "serving/fast_path/": "tests/serving/app/test_routes.py",
    "serving/http/flow_control.py": "tests/serving/http/test_connections.py",
    "serving/http/parsing.py": "tests/serving/http/test_connections.py",
    "serving/limits/limits.py": "tests/serving/test_overload.py",
    "serving/limits/serial_queue.py": "tests/serving/metrics/test_hook_reports.py",
    "serving/log/": "tests/serving/log/test_prediction_log.py",
    "serving/messages/excerpts.py": "tests/serving/messages/test_error_responses.py",
    "serving/metrics/multiprocess.py": "tests/serving/workers/test_supervisor.py",
    "serving/models/": "tests/serving/service/test_model_slot.py",
    "serving/page/": "tests/serving/page/test_page.py",
    "serving/service/long_polling.py": "tests/serving/models/test_hint_image.py",
    "serving/workers/worker.py": "tests/serving/workers/test_supervisor.py",
    # Tested with those who use them.
    "data/common/descriptors.py": "tests/data/common/test_durable.py",
    "data/common/orphans.py": "tests/serving/workers/test_supervisor.py",
    "data/common/percentages.py": "tests/training/evaluate/test_metrics.py",
    "data/common/plot_style.py": "tests/data/scan/test_view.py",
    "data/common/setting_files.py": "tests/data/anonymize/test_settings.py",
    "data/common/setting_names.py": "tests/data/common/test_setting_errors.py",
    "data/common/without_pandas.py": "tests/birthmark/test_imports.py",
    "data/datasets/row_groups.py": "tests/data/datasets/test_tables.py",
    "data/dump/tables.py": "tests/data/dump/test_traces.py",
    "data/generated.py": "tests/data/scan/test_generated.py",
    "data/ingest/summary.py": "tests/data/ingest/test_run.py",
    "data/prediction_log.py": "tests/serving/log/test_prediction_log.py",
    "data/traces/operations.py": "tests/data/traces/test_reader.py",
    "data/traces/tallies.py": "tests/data/ingest/test_run.py",
    "serving/client/names.py": "tests/serving/messages/test_requests.py",
    "serving/client/questions.py": "tests/serving/client/test_client.py",
    "training/registry/abstentions.py": "tests/birthmark/test_audit.py",
    "training/registry/manifests.py": "tests/training/registry/test_versions.py",
    "training/registry/published.py": "tests/serving/service/test_model_slot.py",
    "training/registry/storage.py": "tests/training/registry/test_versions.py",
    "training/registry/stored.py": "tests/training/nightly/test_card.py",
}
"""Modules, and folders of modules (``/`` at the end), without a test of their own name.

Beside each stands the test that is to fail when it is wrong.
"""


def modules() -> list[Path]:
    """Return the modules of all folders, from the top of the repository."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in found if not path.stem.startswith("__"))


def has_twin(module: Path) -> bool:
    """Tell whether a module has a test of its own name in the same place below ``tests``."""
    return (ROOT / "tests" / module.parent / f"test_{module.name}").is_file()


def excuses(module: Path) -> set[str]:
    """Return the keys of ``THROUGH`` that a module may stand under."""
    return {module.as_posix(), *(f"{folder.as_posix()}/" for folder in module.parents)}


def test_each_module_has_a_twin_or_a_reason() -> None:
    left = [path for path in modules() if not has_twin(path) and not excuses(path) & THROUGH.keys()]
    assert not left, "expected a test of the same name and place, or a line in THROUGH"


def test_each_reason_is_still_one() -> None:
    needed = {key for path in modules() if not has_twin(path) for key in excuses(path)}
    assert THROUGH.keys() <= needed, "these have twins, or are gone"
    for test in THROUGH.values():
        assert (ROOT / test).is_file(), test
