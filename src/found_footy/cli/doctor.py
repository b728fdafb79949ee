"""`footy doctor`: check the installation and outside services, and write bug reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from found_footy.cli.common import EXIT_NOT_AS_EXPECTED, AsJson, err, out, print_json, run, settings_with_logs
from found_footy.runtime.clock import utc_now

if TYPE_CHECKING:
    from found_footy.operations.doctor import Examination

MARKS = {
    "ok": "[green]✓[/]",
    "unknown": "[yellow]?[/]",
    "off": "[dim]–[/]",
    "warning": "[yellow]![/]",
    "failed": "[red]✗[/]",
}


def doctor(
    file: Annotated[Path | None, typer.Argument(help="File for --report; default: a new file in this folder.")] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Also send test requests to every enabled feed, source and service.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write a bug report without secrets, as Markdown, or as JSON to *.json.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check folders, engines, settings and services, with advice for each problem."""
    if file is not None and not report:
        raise typer.BadParameter("a file needs --report", param_hint="FILE")
    settings = settings_with_logs("CRITICAL")

    from found_footy.operations.doctor import Progress, examine

    with err.status("checking …") as status:
        progress = Progress(lambda words: status.update(words or "checking …"))
        examination = run(lambda: examine(settings, live=live, with_answers=report, progress=progress))
    if report:
        from found_footy.operations.doctor_report import write_report

        name = f"footy-report-{utc_now():%Y%m%d-%H%M%S}.md"
        path = write_report(settings, examination, file or Path(name))
        err.print(f"wrote {path}: review it before you share it", markup=False, soft_wrap=True)
    if as_json:
        print_json([finding.to_json() for finding in examination.findings])
    else:
        _print(examination)
    if examination.failed:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def _print(examination: Examination) -> None:
    for finding in examination.findings:
        out.print(f"{MARKS[finding.state]} {finding.what}: ", end="")
        out.print(finding.summary, markup=False, soft_wrap=True)
        for line in finding.details(examination.at):
            out.print(f"    {line}", style="dim", markup=False, soft_wrap=True)
        if finding.advice:
            out.print(f"    → {finding.advice}", markup=False, soft_wrap=True)
