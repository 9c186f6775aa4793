"""The command line: reads options, calls the package and prints.

Typer alone is imported at the top; each command imports the rest when it runs.
"""

from __future__ import annotations

import functools
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec

import typer

from sojourn import errors, stops
from sojourn.cli import (
    capturing,
    comparing,
    designing,
    optimal,
    options,
    plotting,
    printing,
    replaying,
    reproducing,
    running,
    shelling,
    sweeping,
    usage,
)
from sojourn.cli.once import Command

if TYPE_CHECKING:
    from sojourn import files
    from sojourn.conform import Difference
    from sojourn.scenario import Scenario

__all__ = ["main"]

app = typer.Typer(
    help="Sojourn: active queue management, from the equation to the wire.",
    epilog="\b\nExample:\n  sojourn run dumbbell --qdisc tail_drop --qdisc pi --seeds 1..5",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

P = ParamSpec("P")


def _print_version(wanted: bool) -> None:
    if wanted:
        from sojourn.catalogue import core_version

        printing.say(f"sojourn {core_version}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version, and exit."
        ),
    ] = False,
) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code. `argv` leaves the program's name out."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    printing.prepare()
    try:
        with stops.all_raise(), printing.warned():
            code = _command()(arguments, prog_name="sojourn", standalone_mode=False, obj=arguments)
    except SystemExit:
        # The reader of typer's own pages closed the pipe.
        printing.drop_stdout()
        return errors.DONE
    except Exception as error:
        return _close(error, arguments)
    if code == errors.INTERRUPTED and not isinstance(code, Reported):
        # Ctrl-C before the command began: typer turns it into an exit code without a message.
        code, lines = errors.settle(KeyboardInterrupt(), " ".join(["sojourn", *arguments[:1]]))
        printing.complain(lines, "sojourn")
    return int(code) if isinstance(code, int) else errors.DONE


@functools.cache
def _command() -> typer.core.TyperGroup:
    """The command with its subcommands, which `app` would make anew at each call."""
    return typer.main.get_group(app)


class Reported(int):
    """An exit code whose lines are printed already."""


def _close(error: Exception, arguments: Sequence[str]) -> int:
    """Report an error of typer: an unreadable command line, or help that cannot be printed."""
    try:
        if hasattr(error, "format_message"):
            return usage.explain(error, arguments)
        unusable: Exception = error
    except printing.ReaderGone:
        return errors.DONE
    except OSError as unprinted:
        printing.drop_stdout()
        unusable = unprinted
    code, lines = errors.settle(unusable, "sojourn")
    printing.complain(lines, "sojourn")
    return code


def door(command: Callable[P, None]) -> Callable[P, int]:
    """Turn errors of a command into lines on stderr and an exit code."""
    name = f"sojourn {command.__name__.removesuffix('_')}"

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            command(*args, **kwargs)
        except printing.ReaderGone:
            return errors.DONE
        except BaseException as error:
            code, lines = errors.settle(error, name)
            found = error.diagnostics if isinstance(error, errors.InputError) else []
            if kwargs.get("as_json"):
                printing.say_refused(found)
            printing.complain(lines, name, [one.drawing for one in found])
            return Reported(code)
        return errors.DONE

    return guarded


File = Annotated[str, options.FILE.declared]
Qdiscs = Annotated[list[str], options.QDISC.declared]
Controls = Annotated[list[str], options.CC.declared]
Sets = Annotated[list[str], options.SET.declared]
Records = Annotated[list[str], options.RECORD.declared]
Windows = Annotated[list[str], options.WINDOW.declared]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn run dumbbell --qdisc tail_drop \\\n"
    "      --qdisc red:min=50packets,max=150packets --qdisc pi --seeds 1..5 --out results/dumbbell\n"
    "  sojourn run transports/cubic_newreno --cc 'flows[1]=cubic:hystart=false'\n"
    "  sojourn run dumbbell --plant fluid,packet --seeds 1..5\n"
    "  sojourn run dumbbell --record pcap=bottleneck --out results/captured\n"
    "  sojourn run dumbbell --qdisc pi --qdisc codel --seeds 1..5 --format latex > table.tex",
)
@door
def run(
    context: typer.Context,
    file: File,
    qdisc: Qdiscs,
    cc: Controls,
    assign: Sets,
    record: Records,
    window: Windows,
    seed: Annotated[str | None, options.SEED.declared] = None,
    seeds: Annotated[str | None, options.SEEDS.declared] = None,
    plant: Annotated[str, options.PLANT.declared] = "packet",
    out: Annotated[str | None, options.RESULT.declared] = None,
    jobs: Annotated[str | None, options.JOBS.declared] = None,
    warm_up: Annotated[bool, typer.Option("--warm-up", help=options.WARM_UP)] = False,
    form: Annotated[str | None, options.FORMAT.declared] = None,
    all_metrics: Annotated[bool, typer.Option("--all", help=options.ALL)] = False,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes.")] = False,
) -> None:
    """Run a scenario; several qdiscs are compared side by side.

    Printed are what the runs show in two or three sentences, and the metrics that differ among the qdiscs.
    Each link with a qdisc has results of its own; sentences about one link mean the first.
    """
    folder = options.RESULT.or_none(out)
    chosen = options.RunOptions(
        file=file,
        qdiscs=tuple(qdisc),
        cc=options.controls(cc),
        overrides=options.with_windows(options.overrides(assign), window),
        by_window=bool(window),
        seeds=options.seeds(seed, seeds),
        plants=tuple(options.PLANT(plant)),
        jobs=options.JOBS.or_none(jobs),
        records=options.records(record, out),
        place=None if folder is None else _claimed(folder, quiet=quiet),
        form=options.form(form, as_json=as_json),
        all_metrics=all_metrics,
        as_json=as_json,
        quiet=quiet,
        warm_up=warm_up,
        command=tuple(context.obj),
    )
    _run(chosen)


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn lab dumbbell --set duration=20s --set warmup=5s \\\n"
    "      --set 'at=[]' --qdisc pi2 --qdisc fq_codel\n"
    "  sojourn lab home/evening --set duration=30s --set warmup=5s --seeds 1..3 --out results/live\n"
    "  sojourn lab live/four_flows --qdisc fq_codel --shell --command 'flent tcp_nup -l 20 -H 10.90.0.2'",
)
@door
def lab(
    context: typer.Context,
    file: File,
    qdisc: Qdiscs,
    cc: Controls,
    assign: Sets,
    record: Records,
    window: Windows,
    seed: Annotated[str | None, options.SEED.declared] = None,
    seeds: Annotated[str | None, options.SEEDS.declared] = None,
    out: Annotated[str | None, options.RESULT.declared] = None,
    form: Annotated[str | None, options.FORMAT.declared] = None,
    all_metrics: Annotated[bool, typer.Option("--all", help=options.ALL)] = False,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes.")] = False,
    shell: Annotated[bool, typer.Option("--shell", help=options.SHELL)] = False,
    command: Annotated[str | None, options.COMMAND.declared] = None,
    server: Annotated[list[str] | None, options.SERVER.declared] = None,
) -> None:
    """Run a scenario live: packets of this machine's own TCP through its qdiscs, in real time.

    It is `sojourn run --plant live`: two private network namespaces, which end with the run, and the
    scenario's links between them. Each run has a line on whether the machine kept time: good, degraded
    (one packet in a hundred was later than a packet takes on the link), or void (a device dropped packets).

    Exit code 1: a run is void, or failed. 2: the scenario has a part that no live run carries. 3: this
    machine does not allow live runs; the line has what would.
    """
    if shell:
        measured = {"--cc": cc, "--record": record, "--window": window, "--seeds": seeds, "--out": out}
        for name, given in {**measured, "--format": form, "--all": all_metrics, "--json": as_json}.items():
            if given:
                raise errors.InputError(f"{name}: belongs to a run; expected none with --shell")
        number = options.SEED.or_none(seed)
        lab_of = shelling.Lab(file, qdisc, options.overrides(assign), 1 if number is None else number)
        servers = [options.SERVER(one) for one in server or []]
        shelling.run(lab_of, options.COMMAND.or_none(command), servers)
        return
    if command is not None or server:
        raise errors.InputError("--command, --server: belong to --shell; expected none without it")
    folder = options.RESULT.or_none(out)
    chosen = options.RunOptions(
        file=file,
        qdiscs=tuple(qdisc),
        cc=options.controls(cc),
        overrides=options.with_windows(options.overrides(assign), window),
        by_window=bool(window),
        seeds=options.seeds(seed, seeds),
        plants=("live",),
        jobs=None,
        records=options.records(record, out),
        place=None if folder is None else _claimed(folder, quiet=quiet),
        form=options.form(form, as_json=as_json),
        all_metrics=all_metrics,
        as_json=as_json,
        quiet=quiet,
        warm_up=False,
        command=tuple(context.obj),
    )
    _run(chosen)


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn sweep grid.toml --out results/grid.sweep\n"
    "  sojourn sweep red --page red.html\n  sojourn sweep grid.toml --retry\n\n\b\n"
    "A grid.toml:\n"
    '  scenario = "dumbbell"\n'
    '  set = { duration = "60 s" }\n'
    '  seeds = "1..5"\n'
    """  where = ["flows * delay <= 1 or law == 'codel'"]\n"""
    "  [axes]\n"
    '  qdisc = ["pi", "codel", "pie:target=15ms"]\n'
    '  flows = { key = "flows[0].count", values = [5, 20, 80] }\n'
    '  delay = { key = "bottleneck.delay", from = "5 ms", to = "50 ms", points = 4 }',
)
@door
def sweep(
    grid: Annotated[str, options.GRID.declared],
    assign: Sets,
    seeds: Annotated[str | None, options.GRID_SEEDS.declared] = None,
    out: Annotated[str | None, options.STORE.declared] = None,
    engine: Annotated[str, options.ENGINE.declared] = "local",
    cluster: Annotated[str | None, options.CLUSTER.declared] = None,
    jobs: Annotated[str | None, options.CELL_JOBS.declared] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a store that exists; without it, also begin one.")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Run cells that have failed before again.")] = False,
    until: Annotated[str | None, options.UNTIL.declared] = None,
    most_seeds: Annotated[str | None, options.MOST_SEEDS.declared] = None,
    page: Annotated[str | None, options.SWEEP_PAGE.declared] = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes.")] = False,
) -> None:
    """Run a scenario at all points of a grid or a sample, and keep each finished cell in a store.

    A cell is a point under a seed. The store survives any kill: the same command continues there, and runs no
    finished cell again. A cell that fails is recorded with its message, and the others go on; with --retry it
    is run again.

    With --until each point has further seeds, 20 at least, until the half-width of the metric's 95 % interval
    is at most that share of its mean.

    Exit code 0: all cells have run. 1: some have failed, or points have not reached the precision of --until.
    2: the grid is wrong, or no point of it can run. 3: the package of an engine, or of indices, is missing.
    """
    chosen, address = options.on_engine(engine, cluster)
    folder, workers = options.STORE.or_none(out), options.CELL_JOBS.or_none(jobs)
    precision = options.precision(until, most_seeds)
    named = options.page(options.SWEEP_PAGE, page)
    own, changes = options.GRID_SEEDS.or_none(seeds), options.overrides(assign)
    how = sweeping.How(resume, precision, as_json, quiet, named, chosen, address, retry, own, changes)
    sweeping.run(grid, folder, workers, how)


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn reproduce arm_pfc --quick\n  sojourn reproduce all --out reproduced",
)
@door
def reproduce(
    papers: Annotated[list[str], options.PAPERS.declared],
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds: minutes, with rougher grades.")] = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Also the live experiments, on this machine's own TCP: five repeats in real time, three "
            "with --quick.",
        ),
    ] = False,
    out: Annotated[str | None, options.REPRODUCED.declared] = None,
    jobs: Annotated[str | None, options.CELL_JOBS.declared] = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes.")] = False,
) -> None:
    """Run the experiments of published papers again, and grade each of their claims.

    A claim is a predicate over the runs: reproduced, partly, depends (on a setting that the paper leaves
    open), uninformative (as true of tail drop or of PI by its rule), not, contradicts itself, or not run;
    with --quick also undecided, where more seeds may decide. The grades are printed, and a page of each
    paper is written into the folder, beside the stores of the runs: the same command again runs only what
    is missing.

    Claims about a kernel are run with --live alone: one run after the other in real time, minutes a paper,
    and no two alike. Exit code 3: this machine does not allow live runs; the line has what would.
    """
    folder, workers = options.REPRODUCED.or_none(out), options.CELL_JOBS.or_none(jobs)
    reproducing.run(papers, folder, workers, quick=quick, live=live, as_json=as_json, quiet=quiet)


@app.command(cls=Command, epilog="\b\nExample:\n  sojourn cite dumbbell")
@door
def cite(file: Annotated[str, options.CITED.declared], as_json: Json = False) -> None:
    """Print the sources of what ran: laws, qdiscs, congestion controls, applications, links and profiles."""
    found = sweeping.cited(file)
    if as_json:
        printing.say(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        printing.say(sweeping.sources(found))


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn report results/dumbbell -o dumbbell.html\n"
    "  sojourn report before.flent.gz after.flent.gz -o captures.html",
)
@door
def report(
    places: Annotated[list[str], options.FOLDER.declared],
    output: Annotated[str | None, options.PAGE.declared] = None,
    baseline: Annotated[str | None, options.BASELINE.declared] = None,
) -> None:
    """Write one self-contained offline page: of a result folder, the store of a sweep, or captures of Flent.

    Captures are drawn beside each other: goodputs and pings over time, boxes of the totals, the distribution
    of the pings, and the summary that Flent prints.
    """
    from sojourn import files
    from sojourn.report import write
    from sojourn.result import Result
    from sojourn.result.folder import OURS, REPORT

    if capturing.are_captures(places):
        capturing.report(places, options.page(options.PAGE, output), baseline)
        return
    (folder,) = places
    folder = options.FOLDER(folder)
    named = options.page(options.PAGE, output)
    if sweeping.is_store(Path(folder)):
        sweeping.report(Path(folder), named, baseline)
        return
    _clear(Path(folder), OURS)
    page = Path(folder) / REPORT if named is None else named
    _clear(page)
    # The page must go into the folder of this result, which another one may replace during the drawing.
    within = files.identity(Path(folder)) if named is None and Path(folder).is_dir() else None
    with printing.hushed():
        result = Result.read(folder)
    chosen = result.baseline(baseline)
    options.make_room(page)
    write(result, page, chosen, within)
    if not files.is_stream(page):
        printing.say(str(page))


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn plot results/dumbbell cdf -o cdf.pdf --width column --style ieee\n"
    "  sojourn plot results/home bars:metric=fct_mean_s,traffic_class=web -o pages.svg\n"
    "  sojourn plot results/grid.sweep curve:metric=utilization,x=target -o curve.pdf\n"
    "  sojourn plot dumbbell nyquist --qdisc pi -o nyquist.pdf",
)
@door
def plot(
    of: Annotated[str, options.PICTURED.declared],
    figure: Annotated[str, options.FIGURE.declared],
    output: Annotated[str, options.PICTURE.declared],
    width: Annotated[str | None, options.WIDTH.declared] = None,
    style: Annotated[str | None, options.STYLE.declared] = None,
    link: Annotated[str | None, options.PICTURED_LINK.declared] = None,
    qdisc: Annotated[str | None, options.PICTURED_QDISC.declared] = None,
) -> None:
    """Draw one figure of a result, of a sweep, or of a scenario's certificate as PDF, SVG or PNG.

    With --width or --style it fits a column or a page of a journal, with TrueType fonts in PDF.
    """
    paper = (options.WIDTH.or_none(width), options.STYLE.or_none(style))
    place = options.PICTURE(output)
    plotting.draw(options.PICTURED(of), figure, place, qdisc=qdisc, link=link, paper=paper)


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn compare results/theirs results/ours --tolerance 5%\n"
    "  sojourn compare results/plants --metric queue_mean_packets\n"
    "  sojourn compare measured.flent.gz results/simulated --tolerance 10%",
)
@door
def compare(
    left: Annotated[str, options.LEFT.declared],
    metric: Annotated[list[str], options.COMPARED.declared],
    right: Annotated[str | None, options.RIGHT.declared] = None,
    tolerance: Annotated[str | None, options.TOLERANCE.declared] = None,
    as_json: Json = False,
) -> None:
    """Show whether two results agree, or two plants of one result.

    Each metric's means over the seeds agree where two one-sided tests at 5 % reject a difference as large as
    the tolerance; that no difference is found does not say so. Backlogs have the same test for the share of
    time above A's median, and beside it their alignment in time.

    A capture of Flent and a result, or another capture, are compared in goodputs of each direction and in
    quantiles of the ping; the values of a capture count as exact.

    Exit code 0: all agree. 1: something differs, or is not shown to agree. 2: the input is wrong.
    """
    comparing.run(left, right, tolerance, metric, as_json=as_json)


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn prove dumbbell --qdisc pi --qdisc arm_pfc -o certificate.html\n"
    "  sojourn prove dumbbell --map N,R --flows 10..200 --rtt 50ms..400ms --json\n"
    "  sojourn prove dumbbell --check\n"
    "  sojourn prove dumbbell --deviations --set plant.fluid.model=mgt",
)
@door
def prove(
    file: File,
    qdisc: Qdiscs,
    assign: Sets,
    link: Annotated[str | None, options.LINK.declared] = None,
    over: Annotated[str | None, options.MAP.declared] = None,
    flows: Annotated[str | None, options.FLOWS.declared] = None,
    rtt: Annotated[str | None, options.RTT.declared] = None,
    check: Annotated[bool, typer.Option("--check", help=options.CHECK)] = False,
    seeds: Annotated[str | None, options.CHECK_SEEDS.declared] = None,
    jobs: Annotated[str | None, options.JOBS.declared] = None,
    points: Annotated[str | None, options.POINTS.declared] = None,
    deviations: Annotated[bool, typer.Option("--deviations", help=options.DEVIATIONS)] = False,
    iterations: Annotated[str | None, options.BISECTIONS.declared] = None,
    output: Annotated[str | None, options.CERTIFICATE_PAGE.declared] = None,
    out: Annotated[str | None, options.CERTIFICATE.declared] = None,
    as_json: Json = False,
) -> None:
    """Certify whether a link is stable under its law, and its margins: the delay is exact.

    Verdict and margins are those of the law as it runs, sampled-data where it has such a form, on the
    linearised plant: the loop marked * in the table. The published continuous loop stands beside it as
    "textbook". Links that are congested together are certified as one loop, with the margins of each while
    the others are closed.

    With --check the scenario runs in the fluid and the packet plant, too, without its schedule, and one
    verdict says whether the theory holds there and what breaks it; with --map, too, at each point of a map.

    Exit code 0: every verdict is stable. 1: one is unstable, or a theory does not hold. 4: none is unstable
    and one is not proven, as where a law has no model. 2: the input is wrong, or a qdisc has no equilibrium;
    the others are printed and written all the same. With --json one qdisc's certificate is the document,
    those of several are in its list "certificates".
    """
    from sojourn.prove import words
    from sojourn.prove.several import Runs, prove_each
    from sojourn.report import check_place

    ends = options.extent(over, flows, rtt)
    runs = options.CheckOptions(seeds, jobs, points, ends is not None).read(check=check)
    bisections = options.bisections(deviations, iterations)
    folder = options.CERTIFICATE.or_none(out)
    page = options.page(options.CERTIFICATE_PAGE, output)
    for place in printing.files_of(folder, page):
        _clear(place)
        check_place(place)
    scenario = _load(file, options.overrides(assign), qdisc)
    show = (runs is not None or bisections is not None) and printing.is_terminal(sys.stderr)
    plants = "fluid" if runs is None else "fluid and packets"
    with _untorn() as settled, printing.progress(plants, show=show) as watch:
        checks = None if runs is None else Runs(*runs)
        found = prove_each(
            scenario,
            qdisc,
            link,
            ends,
            settled=settled,
            runs=checks,
            iterations=bisections,
            watch=watch,
        )
        delivery = printing.Delivery()
        if found.certificates:
            delivery = printing.deliver_proven(found, folder, page, as_json=as_json)
    outcome: BaseException | None = None
    verdicts = {one.verdict for one in found.certificates}
    if found.interrupted:
        printing.complain([*found.refused, *found.failed], "sojourn prove")
        outcome = errors.Interrupted(f"interrupted; {found.progress}{delivery}", None)
    elif found.refused:
        outcome = errors.InputError(*found.refused, *found.failed)
    elif found.failed:
        outcome = errors.SojournError(*found.failed)
    elif "unstable" in verdicts:
        outcome = errors.SojournError(words.tally(found.certificates))
    elif broken := [of for one in found.beside if one.check for of in one.check.broken]:
        outcome = errors.SojournError(f"the theory does not hold: {', '.join(broken)}")
    elif "not proven" in verdicts:
        outcome = errors.NotProvenError(words.tally(found.certificates))
    delivery.conclude("sojourn prove", outcome)


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn design pi2 --flows 20..100 --rtt 35ms..115ms \\\n"
    "      --capacity 20Mbit/s --target 15ms\n"
    "  sojourn design pie --flows 5..10 --rtt 25ms..35ms \\\n"
    "      --capacity 10Mbit/s --target 15ms --emit tc",
)
@door
def design(
    spec: Annotated[str, options.DESIGN_SPEC.declared],
    flows: Annotated[str | None, options.DESIGN_FLOWS.declared] = None,
    rtt: Annotated[str | None, options.DESIGN_RTT.declared] = None,
    capacity: Annotated[str | None, options.CAPACITY.declared] = None,
    target: Annotated[str | None, options.TARGET.declared] = None,
    margin: Annotated[str | None, options.MARGIN.declared] = None,
    gain_margin: Annotated[str | None, options.GAIN_MARGIN.declared] = None,
    settling: Annotated[str | None, options.SETTLING.declared] = None,
    segment: Annotated[str | None, options.SEGMENT.declared] = None,
    model: Annotated[str | None, options.MODEL.declared] = None,
    cc: Annotated[str | None, options.DESIGN_CC.declared] = None,
    drops: Annotated[bool, typer.Option("--drops", help="The flows have no ECN: the law drops.")] = False,
    emit: Annotated[str | None, options.EMIT.declared] = None,
    as_json: Json = False,
) -> None:
    """Design a law for a link: gains that keep their margins over a box of flows, round trips and rates.

    The rule of the law's source is made for the worst corner of the box, and its gain is then the largest at
    which the certificate has the margins at every point of a grid and at random points, with the exact delay
    and the law as it runs. Default parameters stand beside it.

    Exit code 0: the gains keep the margins over the box. 1: no gains of the rule do; the largest boxes that
    can be met are printed, with the gains of the first. 2: the input is wrong.
    """
    form = options.EMIT.or_none(emit)
    if form is not None and as_json:
        raise errors.InputError("--emit, --json: both are given; expected one of them")
    given = {
        "flows": flows,
        "rtt_s": rtt,
        "capacity_pps": capacity,
        "target": target,
        "margin_deg": margin,
        "gain_margin": gain_margin,
        "settling_s": settling,
        "segment_bytes": segment,
        "model": model,
        "cc": cc,
    }
    if form is not None:
        designing.check_form(spec, form)
    found = designing.designed(spec, given, drops=drops)
    if form is not None and found.is_met:
        printing.say(designing.emit(found, form))
    elif form is not None:
        # There is no line; what stands on stdout is for a file.
        printing.note(printing.designed(found))
    else:
        printing.say(found.to_json() if as_json else printing.designed(found))
    if not found.is_met:
        raise errors.SojournError(designing.shortfall(found))


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn ocq solve --instance P\n"
    "  sojourn ocq solve --w 60@0,0@1 --mu 50 --a 1 --R 0.2 --tf 2 --method fast --json\n"
    "  sojourn ocq table --instance P,A,L -o ocq.html",
)
@door
def ocq(
    action: Annotated[str, options.ACTION.declared],
    instance: Annotated[str | None, options.INSTANCE.declared] = None,
    load: Annotated[str | None, options.LOAD.declared] = None,
    service: Annotated[str | None, options.SERVICE.declared] = None,
    half: Annotated[str | None, options.HALF.declared] = None,
    price: Annotated[str | None, options.PRICE.declared] = None,
    queued: Annotated[str | None, options.QUEUED.declared] = None,
    horizon: Annotated[str | None, options.HORIZON.declared] = None,
    cells: Annotated[str | None, options.CELLS.declared] = None,
    method: Annotated[str | None, options.METHOD.declared] = None,
    iterations: Annotated[str | None, options.ITERATIONS.declared] = None,
    output: Annotated[str | None, options.OPTIMAL_PAGE.declared] = None,
    out: Annotated[str | None, options.OPTIMAL.declared] = None,
    trajectory: Annotated[
        bool, typer.Option("--trajectory", help="Put trajectories and histories into the document of --json.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Solve the optimal control of a queue, or compare all methods: the paper's Table 1, done again.

    Of an offered load w the input u is admitted such that the integral of x + R (w - u) is least, where the
    queue follows x' = u - mu x / (a + x). Every answer has a certified gap: no control is better by more.
    Options beside --instance replace its numbers.
    """
    from sojourn.report import check_place

    fields = {"w": load, "mu": service, "a": half, "R": price, "x0": queued, "t_f": horizon, "N": cells}
    most = options.ITERATIONS.or_none(iterations)
    folder, page = options.OPTIMAL.or_none(out), options.page(options.OPTIMAL_PAGE, output)
    places = printing.optimal_files(folder, page)
    solves = options.ACTION(action) == "solve"
    if solves:
        compute = optimal.solver(instance, fields, method, most)
    else:
        compute = optimal.tabulator(instance, fields, method, most)
    if trajectory and not as_json:
        raise errors.InputError("--trajectory: belongs to --json; expected both (--out always writes them)")
    for place in places:
        _clear(place)
        check_place(place)
    found = compute()

    def document(series: bool) -> str:
        return (found.rows[0] if solves else found).to_json(trajectory=series)

    delivery = printing.deliver_optimal(found, document, places, trajectory if as_json else None)
    line = f"interrupted; {len(found.rows)} of its rows are there{delivery}"
    delivery.conclude("sojourn ocq", errors.Interrupted(line, None) if found.interrupted else None)


@app.command("list", cls=Command, help=options.LISTED, epilog="\b\nExample:\n  sojourn list laws --json")
@door
def list_(
    kind: Annotated[str, options.KIND.declared],
    as_json: Json = False,
) -> None:
    """List entries of one kind."""
    entries = options.listed(kind)
    if as_json:
        printing.say(json.dumps(entries, indent=1, ensure_ascii=False))
    elif entries:
        printing.say(printing.listing(entries))
    else:
        printing.note(f"sojourn list: there are no {kind} in this folder")


@app.command(cls=Command, epilog="\b\nExample:\n  sojourn explain red\n  sojourn explain home/rrul")
@door
def explain(
    name: Annotated[str, options.NAME.declared],
) -> None:
    """Explain a law, qdisc, congestion control, app, TCP profile or setting, metric, key, or a scenario."""
    from sojourn import catalogue
    from sojourn.scenario import gallery

    shipped = gallery().get(name)
    if shipped is not None:
        printing.say(printing.of_scenario(name, shipped.read_text()))
    else:
        printing.say(printing.explanation(catalogue.explain(name)))


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn check dumbbell --set bottleneck.rate='6 Mbit/s'\n"
    "  sojourn check grid.toml",
)
@door
def check(
    file: Annotated[str, options.CHECKED.declared],
    qdisc: Qdiscs,
    cc: Controls,
    assign: Sets,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite", help="Put keys that have moved into their places, in the file itself; then validate."
        ),
    ] = False,
) -> None:
    """Validate a scenario, or a grid of `sojourn sweep`, and print what would run.

    Of a grid: its points and cells, and the first of the points that would be refused, with exit code 1.
    """
    from sojourn.resolve import with_controls

    if sweeping.is_grid(file):
        flags = (("--qdisc", qdisc), ("--cc", cc), ("--rewrite", rewrite))
        for flag in (name for name, given in flags if given):
            raise errors.InputError(f"{flag}: belongs to a scenario; expected none for a grid")
        sweeping.check(file, options.overrides(assign))
        return
    if rewrite:
        from sojourn.scenario import rewrite as rewritten

        moved = rewritten(file)
        printing.note(f"rewrote {file}" if moved else f"{file}: no key has moved")
    scenario = with_controls(_load(file, options.overrides(assign), qdisc), options.controls(cc))
    texts = [_described(scenario, one) for one in qdisc] or [scenario.describe()]
    printing.say("\n\n".join(text.rstrip() for text in texts))


@app.command(
    cls=Command, epilog="\b\nExample:\n  sojourn conform --law codel --against 'python3 my_codel.py'"
)
@door
def conform(
    law: Annotated[str | None, options.LAW.declared] = None,
    qdisc: Annotated[str | None, options.QDISC_NAME.declared] = None,
    against: Annotated[str | None, options.AGAINST.declared] = None,
    timeout: Annotated[str | None, options.TIMEOUT.declared] = None,
    as_json: Json = False,
) -> None:
    """Replay the golden traces against the laws and qdiscs, or against a program."""
    from sojourn import conform as golden

    limit_s = options.timeout(timeout, against)
    traces = golden.traces(law, qdisc)
    found: dict[Path, list[Difference]] = {}
    delivery = printing.Delivery()
    outcome: errors.SojournError | errors.Interrupted | None = None
    try:
        for path in traces:
            found[path] = golden.replay(path) if against is None else golden.against(path, against, limit_s)
            if found[path] and not as_json:
                delivery.show(functools.partial(printing.difference, path, found[path]))
    except KeyboardInterrupt:
        outcome = errors.Interrupted(f"interrupted; {len(found)} of {len(traces)} traces were replayed", None)
    differ = sum(map(bool, found.values()))
    if differ and outcome is None:
        outcome = errors.SojournError(f"{differ} of {len(found)} traces differ")
    interrupted = isinstance(outcome, errors.Interrupted)
    delivery.show(lambda: printing.conformance(found, interrupted=interrupted, as_json=as_json))
    delivery.conclude("sojourn conform", outcome)


@app.command(
    cls=Command,
    epilog="\b\nExample:\n  sojourn replay results/live/trace.pi.seed1.jsonl --qdisc codel --qdisc fq_codel",
)
@door
def replay(
    trace: Annotated[str, options.TRACE.declared],
    qdisc: Annotated[list[str], options.OTHER_QDISC.declared],
    as_json: Json = False,
) -> None:
    """Replay the qdisc of a live run on the simulator's, whose answers are compared bit for bit.

    With --qdisc also its arrivals behind another qdisc at the same link. Exit code 1: an answer differs.
    """
    replaying.run(options.TRACE(trace), qdisc, as_json=as_json)


@app.command(cls=Command, epilog="\b\nExample:\n  sojourn version")
@door
def version() -> None:
    """Print the version."""
    from sojourn.catalogue import core_version

    printing.say(f"sojourn {core_version}")


def _claimed(folder: Path, *, quiet: bool) -> files.Claim:
    """Claim the place for a result; remnants of killed processes are removed."""
    from sojourn.result.folder import OURS, claim

    _clear(folder, OURS, quiet=quiet)
    return claim(folder)


def _clear(path: Path, ours: Sequence[str] = (), *, quiet: bool = False) -> None:
    """Remove remnants of killed processes, with a note for each."""
    from sojourn import files

    lines = files.sweep(path, ours)
    if not quiet:
        printing.remark(lines)


def _run(chosen: options.RunOptions) -> None:
    try:
        scenario = _load(chosen.file, chosen.overrides, chosen.qdiscs)
    except errors.InputError as error:
        lines = options.of_windows(error.lines) if chosen.by_window else error.lines
        if lines == error.lines:
            raise
        raise errors.InputError(*lines) from None
    if not chosen.quiet:
        printing.remark(scenario.notes)
    with _untorn() as settled:
        _run_and_deliver(scenario, chosen, settled)


def _load(file: str, overrides: dict[str, str], qdiscs: Sequence[str]) -> Scenario:
    """Load the scenario; if --qdisc replaces its qdisc, that one need not be valid after --set."""
    from sojourn.custom.files import names_a_file
    from sojourn.scenario import load_as, place_of, with_qdisc

    _refuse_replaced(overrides, qdiscs)
    try:
        return load_as(file, overrides, "--set ")
    except errors.InputError as error:
        link, first = place_of(qdiscs[0]) if qdiscs else (None, "")
        if not qdiscs or link not in (None, "bottleneck"):
            raise
        # An error that no law causes is not reported as one of a qdisc; a scenario cannot name a law in
        # Python.
        try:
            bare = load_as(file, overrides | {"bottleneck.qdisc": "tail_drop"}, "--set ")
        except errors.InputError:
            raise error from None
        return bare if link is not None or names_a_file(first) else with_qdisc(bare, first)


def _refuse_replaced(overrides: Mapping[str, str], qdiscs: Sequence[str]) -> None:
    """Refuse a parameter of a qdisc that every --qdisc replaces; changes during the run reach any qdisc."""
    from sojourn.scenario import place_of

    links = {place_of(qdisc)[0] for qdisc in qdiscs}
    for key, value in overrides.items():
        link, dot, parameter = key.partition(".qdisc.")
        if dot and links and links <= {None, link} and not link.startswith("at["):
            name = place_of(qdiscs[0])[1].partition(":")[0]
            raise errors.InputError(
                f"--set {key}: --qdisc replaces this qdisc; "
                f"expected its parameters there, as --qdisc {name}:{parameter}={value}"
            )


def _described(scenario: Scenario, qdisc: str) -> str:
    from sojourn.custom.parameters import parameters_of
    from sojourn.resolve import under_qdisc

    setup = under_qdisc(scenario, qdisc)
    if setup.law is None:
        return setup.scenario.describe()
    parameters = parameters_of(setup.law.original)
    lines = (f"  {one.name} = {one.value}{' (default)' * one.default}\n" for one in parameters)
    return setup.scenario.describe(setup.law.label, "".join(lines))


def _run_and_deliver(scenario: Scenario, chosen: options.RunOptions, settled: Callable[[], None]) -> None:
    from sojourn import simulate

    runs = max(1, len(chosen.qdiscs)) * simulate.runs_of_a_qdisc(chosen.plants, chosen.seeds)
    bar = printing.progress(runs, show=printing.is_terminal(sys.stderr) and not chosen.quiet)
    # A law in Python may print, and stdout holds one document.
    aside: AbstractContextManager[object] = redirect_stdout(sys.stderr) if chosen.as_json else nullcontext()
    with _folder_for_records(chosen) as records:
        try:
            with aside, bar as watch:
                plan = simulate.make_plan(
                    scenario,
                    chosen.qdiscs or None,
                    chosen.seeds,
                    chosen.jobs,
                    cc=chosen.cc,
                    plants=chosen.plants,
                    record=chosen.records,
                    into=records,
                    command=["sojourn", *chosen.command],
                )
                result = simulate.carry_out(plan, watch, settled)
        except (errors.Interrupted, errors.RunFailed) as stop:
            if stop.result is None:
                raise
            delivery = running.deliver(stop.result, chosen, records)
            outcome = stop
            if isinstance(stop, errors.Interrupted):
                outcome = errors.Interrupted(f"{stop.lines[0]}{delivery}", stop.result)
            delivery.conclude("sojourn run", outcome)
        else:
            delivery = running.deliver(result, chosen, records)
            if chosen.warm_up:
                printing.remark(comparing.warm_ups(result))
            delivery.conclude("sojourn run")


@contextmanager
def _folder_for_records(chosen: options.RunOptions) -> Iterator[Path | None]:
    """A folder beside that of --out, for the files of --record while the runs go on."""
    from sojourn import files

    if not chosen.records or chosen.place is None:
        yield None
        return
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(files.beside(chosen.place))
        except OSError as error:
            where = f"{chosen.place.folder} cannot be written ({files.why(error)})"
            raise errors.InputError(f"--out: {where}; expected a folder in a writable place") from None
        yield folder


@contextmanager
def _untorn() -> Iterator[Callable[[], None]]:
    """Ignore interrupts from the call of the yielded function on: gathering and writing are short."""
    before = stops.raising()

    def ignore() -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)

    try:
        yield ignore
    finally:
        stops.restore(before)
