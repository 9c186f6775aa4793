"""Pictures of results: one method for each figure of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from sojourn.errors import InputError
from sojourn.kinds import count, flag, instance, number, one_of_kind, optional, shown, takes, text
from sojourn.plot import bands, ccdf, intervals, style, tradeoff
from sojourn.plot import network as drawing
from sojourn.plot import windows as of_windows
from sojourn.plot.bands import Band
from sojourn.plot.paper import Paper, picture
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.windows import rows as rows_of_windows

__all__ = ["Canvas", "Plots"]

#: Ratios of few packets are noisy: their lines have fewer points by this factor.
COARSE = 4
#: Fraction of a picture's height that is free above the highest line.
HEADROOM = 1.05
#: Prefix of the series of a class's goodput.
GOODPUT = "goodput_bps."
#: Prefix of the series of a class's round trips.
ROUND_TRIP = "rtt_s."
#: Prefixes of the series of a queue's backlog, and of the distribution of its sojourn time.
BACKLOG, SOJOURN = "queue_packets.", "sojourn_s."


#: A result as an argument.
A_RESULT = instance(Result, "a result; expected what sj.run(SCENARIO) gives")


@dataclass(frozen=True)
class Canvas:
    """Size of a picture and resolution of its lines."""

    #: Width and height, inches.
    size: tuple[float, float] = (9.0, 3.4)
    #: Approximate number of points of a line.
    points: int = 400
    #: True if the picture has its own legend.
    legend: bool = True
    #: True if lines over time are those of the first seed; else they are means, which cancel oscillations.
    one_seed: bool = True
    #: The variants whose lines over time are drawn; empty: all.
    only: tuple[Variant, ...] = ()

    def __post_init__(self) -> None:
        one_of_kind("points", count, self.points)
        one_of_kind("legend", flag, self.legend)
        one_of_kind("one_seed", flag, self.one_seed)
        size: object = self.size
        if not isinstance(size, tuple | list) or len(size) != 2:
            raise InputError(f"size: {shown(size)} is no size; expected width and height, such as (9.0, 3.4)")
        for side in size:
            one_of_kind("size", number, side)


@dataclass(frozen=True)
class Plots:
    """Pictures of one result. Lines over time are of its first seed, in the pale range of all seeds.

    A mean over the seeds cancels oscillations, and ``Plots(result, Canvas(one_seed=False))`` draws it. Lines
    of distributions are means over the seeds.

    Every method draws into `ax`, the caller's Matplotlib axes, or into a new figure, and returns the axes.
    Their figure is ``axes.figure`` and is saved with ``axes.figure.savefig("queue.svg")``; a
    notebook shows it where a cell ends with the axes. No pyplot state is touched.

    For print a new figure has the `width` ``"column"`` (3.5 inches) or ``"page"`` (7.16 inches) and text of
    8 points; the `style` ``"ieee"`` makes the text black, in a font like Times, and the figure a column wide
    unless `width` is given. PDF files embed the fonts as TrueType.

    >>> import sojourn as sj
    >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
    >>> result.plot.queue().get_ylabel()
    'queue, packets'
    """

    result: Result
    canvas: Canvas = Canvas()
    #: The result at all links, if `result` is that at one of them: classes are looked up in it.
    everywhere: Result | None = None

    def __post_init__(self) -> None:
        one_of_kind("result", A_RESULT, self.result)
        one_of_kind("canvas", instance(Canvas, "a canvas; expected sojourn.plot.Canvas()"), self.canvas)
        one_of_kind("everywhere", optional(A_RESULT), self.everywhere)

    def _sized(self, size: tuple[float, float]) -> Plots:
        """The pictures on a canvas of `size`, inches."""
        return replace(self, canvas=replace(self.canvas, size=size))

    @picture()
    def queue(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Backlog of the qdisc over time, packets.

        >>> import sojourn as sj
        >>> from matplotlib.figure import Figure
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> left, right = Figure().subplots(1, 2)  # axes of one's own
        >>> result.plot.queue(ax=left) is left
        True
        """
        return self._over_time("queue_packets", "queue, packets", ax)

    @picture()
    def delay(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Sojourn time in the qdisc, over the time of departure.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> result.plot.delay().get_ylabel()
        'sojourn, ms'
        """
        unit, scale = self.delay_unit()
        return self._over_time("sojourn_s", f"sojourn, {unit}", ax, scale=scale)

    @picture()
    def cdf(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Distribution of the sojourn time: the share of packets that wait no longer, %.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> result.plot.cdf().get_xlabel()
        'sojourn, ms'
        """
        drawn = self._axes(ax)
        unit, scale = self.delay_unit()
        grid = self.delay_grid()
        spreads = bands.distribution(self.result, "sojourn_s", grid)
        for band in spreads:
            self._draw(drawn, band.scaled(scale, 100))
        if all(np.all(np.isnan(band.mean)) for band in spreads):
            style.nothing(drawn, "no packet has a delay")
        drawn.set_xlim(0, grid[-1] * scale)
        drawn.set_ylim(0, 100)
        style.label(drawn, f"sojourn, {unit}", "packets that wait no longer, %")
        return self._finish(drawn, ax)

    @picture()
    def delay_ccdf(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Tails of the sojourn time on logarithmic axes: the share of packets that wait longer, p50 to p99.9.

        Where no packet waits the axes have a note in their middle.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> [label.get_text() for label in result.plot.delay_ccdf().get_yticklabels()]
        ['p50', 'p90', 'p95', 'p99', 'p99.9']
        """
        drawn = self._axes(ax)
        unit, scale = self.delay_unit()
        delays = self.tail_grid(2 * self.canvas.points)
        tails = ccdf.tails(self.result, delays)
        if any(np.any(band.high > 0) for band in tails):
            for band in tails:
                self._draw(drawn, band.scaled(scale))
        else:
            style.nothing(drawn, "no packet waits")
        ccdf.scale(drawn, delays * scale)
        style.label(drawn, f"sojourn, {unit}", ccdf.LABEL)
        return self._finish(drawn, ax)

    @picture(delay=text, use=text)
    def delay_utilization(
        self,
        delay: str = "sojourn_p95_s",
        use: str = "utilization",
        *,
        ax: Axes | None = None,
        **_paper: Unpack[Paper],
    ) -> Axes:
        """Delay against use of every qdisc: mean over the seeds, 95 % intervals, and an ellipse of the seeds.

        Delay falls to the right, as in RFC 7928, section 2.7. The ellipse has one standard deviation of the
        Gaussian that explains the seeds, three of them at least; the steps are the front: no qdisc has both
        less delay and more use than one on it. `delay` and `use` are metrics, such as ``"sojourn_mean_s"``
        and ``"goodput_bps"``. Raises `InputError` for an unknown one.

        >>> import sojourn as sj
        >>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
        >>> result = sj.run(sc, qdiscs=["tail_drop", "pi"])
        >>> result.plot.delay_utilization().get_ylabel()
        'utilisation, %'
        """
        if ax is None:
            _, (ax,) = style.figure((self.canvas.size[0], 0.6 * self.canvas.size[0]))
        style.quieten(ax)
        return tradeoff.draw(ax, self.result, delay, use)

    @picture(qdisc=optional(text))
    def queues(self, qdisc: str | None = None, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Backlog of each queue of a qdisc over time, packets, one on top of the other.

        `qdisc` is one of the result, by default the first one of several queues. Raises `InputError` for an
        unknown one, and for one of a single queue: `queue` shows that.

        >>> import sojourn as sj
        >>> scenario = sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})
        >>> drawn = sj.run(scenario, "fq_codel").plot.queues()
        >>> drawn.get_legend_handles_labels()[1], drawn.get_ylabel()
        (['bulk', 'bulk2'], 'queue, packets')
        """
        variant, names = self._divided(qdisc)
        drawn = self._axes(ax)
        unit, times = self.time_unit()
        step = bands.step_s(self.result, self.canvas.points)
        seeds = [self._first_seed(variant)] if self.canvas.one_seed else None
        found = [bands.samples(self.result, f"{BACKLOG}{name}", seeds)[variant] for name in names]
        lines = [bands.binned({variant: runs}, step)[0] for runs in found]
        below = np.zeros_like(lines[0].x)
        for place, (name, band) in enumerate(zip(names, lines, strict=True)):
            above = below + np.nan_to_num(band.mean)
            look = style.Look(place)
            drawn.fill_between(
                band.x * times,
                below,
                above,
                facecolor=look.colour,
                edgecolor=style.PAPER,
                hatch=look.hatch or None,
                alpha=0.75,
                linewidth=0,
                label=style.plain(name),
            )
            below = above
        measured = below[lines[0].x >= self.warmup_s()]
        top = float(measured.max()) if measured.size else 0.0
        drawn.set_ylim(0, HEADROOM * top if top > 0 else 1.0)
        self._time_axis(drawn, times)
        style.label(drawn, f"time, {unit}", "queue, packets")
        return self._finish(drawn, ax)

    @picture(qdisc=optional(text))
    def queue_delays(
        self, qdisc: str | None = None, *, ax: Axes | None = None, **_paper: Unpack[Paper]
    ) -> Axes:
        """Distribution of the sojourn time in each queue: the share of packets that wait no longer, %.

        Lines are means over the seeds, bands the range of the seeds; `qdisc` and errors as in `queues`.

        >>> import sojourn as sj
        >>> scenario = sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})
        >>> sj.run(scenario, "fq_codel").plot.queue_delays().get_xlabel()
        'sojourn, ms'
        """
        variant, names = self._divided(qdisc)
        drawn = self._axes(ax)
        longest = max(self._longest_s(f"{SOJOURN}{name}", variant) for name in names)
        unit, scale = words.unit_for(longest, words.TIMES[1:])
        grid = np.linspace(0.0, longest, 2 * self.canvas.points)
        for place, name in enumerate(names):
            spreads = bands.distribution(self.result, f"{SOJOURN}{name}", grid)
            band = next(one for one in spreads if one.variant == variant).scaled(scale, 100)
            colour = style.colour(place)
            drawn.fill_between(band.x, band.low, band.high, color=colour, alpha=style.BAND_ALPHA, linewidth=0)
            dash = style.Look(place).dash
            drawn.plot(
                band.x, band.mean, color=colour, linestyle=dash, linewidth=style.LINE, label=style.plain(name)
            )
        drawn.set_xlim(0, longest * scale)
        drawn.set_ylim(0, 100)
        style.label(drawn, f"sojourn, {unit}", "packets that wait no longer, %")
        return self._finish(drawn, ax)

    @picture()
    def drops(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Drops over time, % of the packets offered, on the scale of the marks.

        A line has a gap where no packet was offered.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> result.plot.drops().get_ylabel()
        'drops, %'
        """
        return self._ratio("drop_ratio", "drops, %", ax)

    @picture()
    def marks(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Marks over time, % of the packets offered, on the scale of the drops.

        A line has a gap where no packet was offered.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> result.plot.marks().get_ylabel()
        'marks, %'
        """
        return self._ratio("mark_ratio", "marks, %", ax)

    @picture()
    def utilization(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Utilisation of the link's rate over time, %.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> result.plot.utilization().get_ylabel()
        'utilisation, %'
        """
        drawn = self._over_time("utilization", "utilisation, %", ax, scale=100, coarse=COARSE)
        lowest = min(98.0, 100 * self._measured("utilization")[0])
        drawn.set_ylim(max(0.0, lowest - 0.1 * (100 - lowest)), 100 + 0.05 * (100 - lowest))
        return drawn

    @picture()
    def window(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Congestion windows over time, packets.

        Thin lines are single flows under the lowest seed, if the result has samples of them; the strong
        line is the mean of all flows.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> result.plot.window().get_ylabel()
        'congestion window, packets'
        """
        drawn = self._over_time("window_packets", "congestion window, packets", ax)
        unit = self.time_unit()[1]
        step = bands.step_s(self.result, self.canvas.points)
        looks = style.looks(self.result)
        for name in bands.flows(self.result):
            sampled = bands.samples(self.result, name, [min(self.result.seeds)])
            for band in bands.binned(sampled, step):
                drawn.plot(
                    band.x * unit,
                    band.mean,
                    color=looks[band.variant].colour,
                    linewidth=style.THIN,
                    alpha=0.6,
                )
        drawn.autoscale(axis="y")
        drawn.set_ylim(bottom=0)
        return drawn

    @picture()
    def regret(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Regret of a qdisc's shares: what they lost in utility against the best fixed ones in hindsight.

        At the end of each period, summed from the start; where it falls, the shares of the period were better
        than those. Raises `InputError` if no qdisc of the result shares its link by utility, as sqm does.
        Source: J. Ye et al., "A Control-Theoretic and Online Learning Approach to Self-Tuning Queue
        Management", 2022, equation (30).

        >>> import sojourn as sj
        >>> scenario = sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})
        >>> sj.run(scenario, ["sqm:period=100ms", "codel"]).plot.regret().get_ylabel()
        'regret, utility'
        """
        return self._of_utility("regret", "regret, utility", ax)

    @picture()
    def utility(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Sum of the utilities of the flows that have shares, at the end of each period.

        Raises `InputError` if no qdisc of the result shares its link by utility, as sqm does.

        >>> import sojourn as sj
        >>> scenario = sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})
        >>> sj.run(scenario, "sqm:period=100ms").plot.utility().get_ylabel()
        'utility of a period'
        """
        return self._of_utility("utility", "utility of a period", ax)

    @picture()
    def price(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Price of the link over time: the utility that one packet/s more would add.

        Raises `InputError` if no qdisc of the result has a price, as sqm and rem have; that of rem is a
        number of its own, which signals follow.

        >>> import sojourn as sj
        >>> scenario = sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})
        >>> sj.run(scenario, "sqm:period=100ms,coordinator=decentralised").plot.price().get_ylabel()
        'price'
        """
        return self._of_utility("price", "price", ax)

    @picture(traffic_class=text)
    def goodput(self, traffic_class: str, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Goodput of one class of traffic over time, in a fitting unit.

        Any class of the result, whatever link its data cross. Raises `InputError` for an unknown class; a
        result has classes if the scenario has several.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
        >>> result.plot.goodput("bulk2").get_ylabel()
        'goodput, Mbit/s'
        """
        there = self._at_class(traffic_class)
        unit, scale = there.goodput_unit(traffic_class)
        return there._of_class(f"{GOODPUT}{traffic_class}", f"goodput, {unit}", ax, scale)

    @picture(traffic_class=text)
    def ping(self, traffic_class: str, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Round-trip time of the datagrams of a class that come back, over the time of their return.

        Raises `InputError` for an unknown class, and for one without pings.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("home/bufferbloat", {"duration": "12 s", "warmup": "2 s"}))
        >>> result.plot.ping("ping").get_ylabel()
        'round trip, ms'
        """
        there = self._at_class(traffic_class)
        name = f"{ROUND_TRIP}{traffic_class}"
        if name not in there.result.series["name"]:
            raise InputError(
                f"traffic_class: no datagram of {traffic_class!r} comes back; expected a class of pings"
            )
        unit, scale = there.ping_unit(traffic_class)
        return there._of_class(name, f"round trip, {unit}", ax, scale)

    def _at_class(self, traffic_class: str) -> Plots:
        """Plots at the first link with a qdisc that the data of a class cross, or at none."""
        everywhere = self.everywhere or self.result
        everywhere.check_class(traffic_class)
        link = everywhere.rows(traffic_class=traffic_class)[0].link
        return Plots(everywhere.for_link(link), self.canvas)

    def _of_class(self, name: str, label: str, ax: Axes | None, scale: float) -> Axes:
        """A series of a class, from zero."""
        drawn = self._over_time(name, label, ax, scale=scale, coarse=COARSE)
        top = scale * self._measured(name)[1]
        drawn.set_ylim(0, HEADROOM * top if top > 0 else 1.0)
        return drawn

    @picture(metric=text)
    def classes(
        self, metric: str = "goodput_bps", *, ax: Axes | None = None, **_paper: Unpack[Paper]
    ) -> Axes:
        """One metric of every class of traffic under every qdisc: the mean over the seeds, its 95 % interval.

        Values are those of `Result.values`: at the first link with a qdisc that the class's data cross,
        which is named if there are several and the metric is one of a link. Raises `InputError` if the
        scenario has only one class: `summary` shows that.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
        >>> [label.get_text() for label in result.plot.classes("sojourn_p95_s").get_yticklabels()]
        ['bulk', 'bulk2']
        """
        result = self.everywhere or self.result
        if not result.classes:
            raise InputError("classes: the scenario has one class of traffic; expected plot.summary")
        if ax is None:
            height = intervals.classes_height_in(result)
            if self.canvas.legend:
                height += style.legend_in(self.canvas.size[0], list(words.variant_names(result).values()))
            _, (drawn,) = style.figure((self.canvas.size[0], height))
        else:
            drawn = ax
        style.quieten(drawn, "x")
        intervals.by_class(drawn, result, metric)
        return self._finish(drawn, ax) if len(result.variants) > 1 else drawn

    @picture(metric=text)
    def summary(
        self, metric: str = "sojourn_mean_s", *, ax: Axes | None = None, **_paper: Unpack[Paper]
    ) -> Axes:
        """One metric of every qdisc: the mean over the seeds, its 95 % interval, and each seed as a dot.

        `metric` is a name of ``sojourn list metrics``, such as ``"utilization"``; a metric of the summary is
        shown in its unit there.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}), seeds=[1, 2])
        >>> result.plot.summary("queue_mean_packets").get_xlabel()
        'queue mean, packets'
        """
        drawn = self._axes(ax, rows=self.result.variants, grid="x")
        return intervals.means(drawn, self.result, metric)

    @picture(metric=text, traffic_class=optional(text))
    def bars(
        self,
        metric: str = "sojourn_mean_s",
        traffic_class: str | None = None,
        *,
        ax: Axes | None = None,
        **_paper: Unpack[Paper],
    ) -> Axes:
        """One metric of every qdisc as bars from zero: mean over the seeds, its 95 % interval, the number.

        Of all traffic or of one class. Raises `InputError` for an unknown metric or class.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
        >>> len(result.plot.bars("goodput_bps", "bulk2").patches)
        1
        """
        drawn = self._axes(ax, rows=self.result.variants, grid="x")
        result = self.everywhere or self.result
        return intervals.bars(drawn, result, words.column_of(result, metric, (traffic_class,)), traffic_class)

    @picture(metric=text, baseline=optional(text))
    def differences(
        self,
        metric: str = "sojourn_mean_s",
        *,
        baseline: str | None = None,
        ax: Axes | None = None,
        **_paper: Unpack[Paper],
    ) -> Axes:
        """One metric of every qdisc less that of the baseline, seed by seed: the mean and its 95 % interval.

        `baseline` is a qdisc of the result, the first one by default; with several plants each qdisc is
        compared with the baseline in its own. Raises `InputError` for an unknown qdisc.

        >>> import sojourn as sj
        >>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
        >>> result = sj.run(sc, qdiscs=["tail_drop", "pi"], seeds=[1, 2])
        >>> result.plot.differences("queue_mean_packets").get_xlabel()
        'queue mean, packets more than tail_drop'
        """
        chosen = self.result.baseline(baseline)
        others = [variant for variant in self.result.variants if variant.qdisc != chosen]
        drawn = self._axes(ax, rows=others, grid="x")
        return intervals.differences(drawn, self.result, metric, chosen)

    @picture(quantity=text, window=text, traffic_class=optional(text))
    def boxes(
        self,
        quantity: str = "rtt",
        window: str = "phases",
        traffic_class: str | None = None,
        *,
        ax: Axes | None = None,
        **_paper: Unpack[Paper],
    ) -> Axes:
        """Box plots over windows of time, of all traffic or of one class.

        For the `quantity` ``"rtt"``, ``"sojourn"`` or ``"queue"`` each window has a box for each qdisc: its
        quartiles, whiskers from the 5 to the 95 % quantile, a dot at the mean; each is the mean over the
        seeds. For a metric, such as ``"goodput_bps"`` or ``"drop_ratio"``, each qdisc has one box, of the
        values of all windows and seeds, with whiskers to the extremes. Raises `InputError` for an unknown
        window, metric or class.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "45 s", "windows": '["phases"]'})
        >>> sj.run(sc).plot.boxes("rtt").get_ylabel()
        'round-trip time, ms'
        """
        result = self.everywhere or self.result
        found = rows_of_windows(result, window, traffic_class)
        drawn = self._axes(ax)
        if quantity in of_windows.DISTRIBUTIONS:
            return of_windows.boxes(drawn, result, found, quantity)
        self._check_window_metric(quantity, found)
        return of_windows.across(drawn, result, found, quantity)

    @picture(metric=text, window=text, traffic_class=optional(text))
    def over_windows(
        self,
        metric: str = "rtt_p95_s",
        window: str = "every 1 s",
        traffic_class: str | None = None,
        *,
        ax: Axes | None = None,
        **_paper: Unpack[Paper],
    ) -> Axes:
        """A metric of each window over time, such as ``"rtt_p95_s"`` in the windows ``"every 1 s"``.

        Of all traffic or of one class. Raises `InputError` for an unknown window, metric or class.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s", "windows": '["every 1 s"]'})
        >>> sj.run(sc).plot.over_windows("goodput_bps", "every 1 s").get_ylabel()
        'goodput, Mbit/s'
        """
        result = self.everywhere or self.result
        found = rows_of_windows(result, window, traffic_class)
        self._check_window_metric(metric, found)
        drawn = self._axes(ax)
        unit, times = self.time_unit()
        of_windows.series(drawn, result, found, metric, times=times, one_seed=self.canvas.one_seed)
        # Windows before the end of the warm-up are measured, too.
        if self.end_s() > 0:
            drawn.set_xlim(0, self.end_s() * times)
        for when in self.changes_s():
            style.change(drawn, when * times)
        drawn.set_xlabel(f"time, {unit}", color=style.MUTED, fontsize=style.FONT_PT)
        return self._finish(drawn, ax)

    @staticmethod
    def _check_window_metric(metric: str, found: pl.DataFrame) -> None:
        """Raise `InputError` for a metric that no such window has."""
        if not found["name"].is_in([metric]).any():
            known = ", ".join([*of_windows.DISTRIBUTIONS, *found["name"].unique(maintain_order=True)][:12])
            raise InputError(f'metric: "{metric}" is no metric of these windows; expected such as {known}')

    @picture()
    def network(self, *, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """The network of the scenario: senders, queues, links and delays.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("scenarios/dumbbell.toml", {"duration": "41 s"}))
        >>> "50 × bulk (newreno)" in {text.get_text() for text in result.plot.network().texts}
        True
        """
        if ax is None:
            _, (ax,) = style.figure(
                (self.canvas.size[0], drawing.height_in(self.result.scenario, self.canvas.size[0]))
            )
            ax.set_position((0, 0, 1, 1))
        return drawing.draw(ax, self.result.scenario)

    def time_unit(self) -> tuple[str, float]:
        """Unit of every time axis, and its number per second."""
        end = self.end_s()
        return words.unit_for(end, words.TIMES) if end > 0 else words.TIMES[0]

    def delay_unit(self) -> tuple[str, float]:
        """Unit of every axis of delay, and its number per second."""
        return words.unit_for(self._longest_s(), words.TIMES[1:])

    @takes(traffic_class=text)
    def goodput_unit(self, traffic_class: str) -> tuple[str, float]:
        """Unit of the axis of a class's goodput, and its number per bit/s."""
        column = words.fitted(self.result, metrics.GOODPUT_BPS, (traffic_class,))
        return column.unit, column.scale

    @takes(traffic_class=text)
    def ping_unit(self, traffic_class: str) -> tuple[str, float]:
        """Unit of the axis of a class's round trips, and its number per second."""
        return words.unit_for(self._measured(f"{ROUND_TRIP}{traffic_class}")[1], words.TIMES[1:])

    @takes(points=optional(count))
    def delay_grid(self, points: int | None = None) -> bands.Line:
        """Delays at which the distribution is drawn, seconds, from zero: an array of `points`.

        By default twice the points of the canvas.
        """
        return np.linspace(0.0, self._longest_s(), points or 2 * self.canvas.points)

    @takes(points=count)
    def tail_grid(self, points: int) -> bands.Line:
        """Delays at which the tails are drawn, seconds, at equal ratios: an array of `points`."""
        return ccdf.grid(self.result, self._longest_s(), points)

    def end_s(self) -> float:
        """End of the run, seconds."""
        return words.seconds(self.result.scenario.get("duration")) or bands.end_s(self.result)

    def warmup_s(self) -> float:
        """End of the warm-up, seconds."""
        return words.seconds(self.result.scenario.get("warmup")) or 0.0

    def changes_s(self) -> list[float]:
        """Times of the schedule's changes, seconds."""
        times = [words.seconds(change.get("time")) for change in self.result.scenario.get("at") or []]
        return [time for time in times if time is not None]

    def _first_seed(self, variant: Variant) -> int:
        """Lowest seed under which a variant ran."""
        of = (variant.qdisc, variant.plant)
        return min(row.seed for row in self.result.runs if (row.qdisc, row.plant) == of)

    def _axes(self, ax: Axes | None, *, rows: Sequence[Variant] | None = None, grid: str = "y") -> Axes:
        """The given axes, or those of a new figure, whose height fits intervals of the variants in `rows`."""
        if ax is None:
            width, height = self.canvas.size
            if rows is not None:
                height = intervals.height_in(self.result, rows)
            elif self.canvas.legend:
                height += style.legend_in(width, list(words.variant_names(self.result).values()))
            _, (ax,) = style.figure((width, height))
        style.quieten(ax, grid)
        return ax

    def _over_time(
        self, name: str, label: str, ax: Axes | None, *, scale: float = 1.0, coarse: int = 1
    ) -> Axes:
        drawn = self._axes(ax)
        unit, times = self.time_unit()
        for band in bands.over_time(self.result, name, self.canvas.points // coarse):
            if self.canvas.only and band.variant not in self.canvas.only:
                continue
            self._draw(drawn, band.scaled(times, scale), one_seed=self.canvas.one_seed)
        drawn.set_ylim(bottom=0)
        self._time_axis(drawn, times)
        style.label(drawn, f"time, {unit}", label)
        return self._finish(drawn, ax)

    def _of_utility(self, name: str, label: str, ax: Axes | None) -> Axes:
        """A series that few qdiscs have, over its own range after the warm-up."""
        if name not in self.result.series["name"]:
            raise InputError(f"{name}: no qdisc of the result has one; expected a qdisc such as sqm")
        drawn = self._over_time(name, label, ax)
        low, high = self._measured(name)
        free = (HEADROOM - 1) * (high - low) or 1.0
        drawn.set_ylim(low - free, high + free)
        return drawn

    def _divided(self, qdisc: str | None) -> tuple[Variant, list[str]]:
        """A variant of several queues, and their names: of a qdisc, or the first one that there is."""
        if qdisc is not None:
            self.result.check_qdisc(qdisc)
        for variant in self.result.variants:
            names = self.result.queues(variant.qdisc) if qdisc in (None, variant.qdisc) else []
            if len(names) > 1:
                return variant, names
        known = [one for one in self.result.qdiscs if len(self.result.queues(one)) > 1]
        expected = f"expected {' or '.join(known)}" if known else "expected plot.queue"
        which = "no qdisc of the result has" if qdisc is None else f"{qdisc} has not"
        raise InputError(f"queues: {which} several queues with packets; {expected}")

    def _ratio(self, name: str, label: str, ax: Axes | None) -> Axes:
        drawn = self._over_time(name, label, ax, scale=100, coarse=COARSE)
        top = 100 * max(self._measured("drop_ratio")[1], self._measured("mark_ratio")[1])
        drawn.set_ylim(0, HEADROOM * top if top > 0 else 1.0)
        return drawn

    def _draw(self, ax: Axes, band: Band, *, one_seed: bool = False) -> None:
        look = style.looks(self.result)[band.variant]
        name = style.plain(words.variant_names(self.result)[band.variant])
        ax.fill_between(band.x, band.low, band.high, color=look.colour, alpha=style.BAND_ALPHA, linewidth=0)
        line = band.first if one_seed and band.first is not None else band.mean
        ax.plot(band.x, line, linestyle=look.dash, label=name, **look.line)

    def _time_axis(self, ax: Axes, times: float) -> None:
        """Limits from the start to the end, the warm-up shaded and every change marked."""
        if self.end_s() > 0:
            ax.set_xlim(0, self.end_s() * times)
        if self.warmup_s() > 0:
            style.warmup(ax, self.warmup_s() * times)
        for when in self.changes_s():
            style.change(ax, when * times)

    def _measured(self, name: str) -> tuple[float, float]:
        """Lowest and highest values of the coarse bands after the warm-up, which may leave the picture."""
        found = bands.over_time(self.result, name, self.canvas.points // COARSE)
        kept = [band.x >= self.warmup_s() for band in found]
        low = np.concatenate([band.low[keep] for band, keep in zip(found, kept, strict=True)])
        high = np.concatenate([band.high[keep] for band, keep in zip(found, kept, strict=True)])
        if np.all(np.isnan(low)):
            return 0.0, 0.0
        return float(np.nanmin(low)), float(np.nanmax(high))

    def _longest_s(self, name: str = "sojourn_s", variant: Variant | None = None) -> float:
        """The delay that one packet in a thousand exceeds, in the slowest run, of a variant if given, s."""
        table = self.result.distributions.filter(pl.col("name") == name)
        if variant is not None:
            table = table.filter(bands.of_variant(self.result, variant))
        reached = (
            table.filter(pl.col("cumulative") >= 0.999)
            .group_by("plant", "qdisc", "seed")
            .agg(pl.col("value").min())
        )
        longest = reached["value"].max()
        return longest * 1.02 if isinstance(longest, int | float) and longest > 0 else 1e-3

    def _finish(self, drawn: Axes, given: Axes | None) -> Axes:
        if self.canvas.legend:
            style.legend(drawn, above=given is None)
        return drawn
