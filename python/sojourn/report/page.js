// Interactive pictures: cursor, zoom, laws shown or hidden. Without scripts the still ones remain.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const whole = document.getElementById("whole");
  const theme = document.getElementById("theme");
  const night = matchMedia("(prefers-color-scheme: dark)");
  const places = document.querySelectorAll("button.place");
  const overlay = document.getElementById("overlay");
  // More qdiscs than an overlay can show have a panel each; an overlay begins with the first of the ranking.
  const OVERLAID = 3;
  const many = data.qdiscs.length > OVERLAID;
  const all = [...data.laws.keys()];
  const ranked = [...document.querySelectorAll(".ranking tbody tr")].map((row) => Number(row.dataset.law));
  const chosen = [...new Set([...ranked, ...all].map((law) => data.laws[law].qdisc))].slice(0, OVERLAID);
  // Indices of the laws hidden in each view.
  const views = { panels: new Set(), overlay: new Set(all.filter((law) => !chosen.includes(data.laws[law].qdisc))) };
  let hidden = many ? views.panels : views.overlay;
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const hex = (share) => Math.round(255 * share).toString(16).padStart(2, "0");
  const short = (value) => String(Number(value.toPrecision(4)));

  // ---- Numbers ----------------------------------------------------------------------------------

  // The inverse of columns.py's `pack`; null for gaps, and up to the level's end.
  function unpack([lowest, quantum, text], points) {
    const bytes = atob(text);
    const values = new Array(points).fill(null);
    for (let i = 0, n = 0, at = 0; i < bytes.length; n++) {
      let code = 0, byte;
      for (let shift = 0; shift === 0 || byte > 127; shift += 7) {
        byte = bytes.charCodeAt(i++);
        code |= (byte & 127) << shift;
      }
      if (code === 0) continue;
      at += code % 2 === 0 ? -code / 2 : (code - 1) / 2;
      values[n] = lowest + quantum * at;
    }
    return values;
  }

  // The laws in drawing order, broad lines below thin ones.
  const order = [...all].sort((one, other) => (data.laws[other].width ?? 0) - (data.laws[one].width ?? 0));

  // A level's columns for uPlot: x, then low, high and mean of each law (a single seed has the
  // mean alone), then single flows. Unpacked when first shown.
  function columns(level) {
    level.columns ??= [
      Array.from({ length: level.points }, (_, i) => level.start + i * level.step),
      ...order.flatMap((law) => [...level.laws[law].slice(1), level.laws[law][0]]).map((one) => unpack(one, level.points)),
      ...(level.flows ?? []).map((flow) => unpack(flow.line, level.points)),
    ];
    return level.columns;
  }

  // The columns of a chart's series alone.
  function shown(chart, level) {
    const all = columns(level);
    return [all[0], ...chart.series.map(({ column }) => all[column])];
  }

  // A number of an axis, which may be the logarithm of the value.
  const value = (spec, number) => (spec.levels[0].ticks ? 10 ** number : number);

  // 1, 2 and 5 times powers of ten between two logarithms, or the powers alone if those are many.
  function decades(from, to) {
    const factors = to - from < 2.5 ? [1, 2, 5] : [1];
    const powers = Array.from({ length: Math.ceil(to) - Math.floor(from) + 1 }, (_, i) => Math.floor(from) + i);
    return powers.flatMap((power) => factors.map((factor) => power + Math.log10(factor))).filter((at) => at >= from && at <= to);
  }

  // ---- Pictures ---------------------------------------------------------------------------------

  // The series of some laws, each with its column; `line` is true for the law's line, `edge` for those of its band.
  function seriesOf(spec, laws) {
    const level = spec.levels[0];
    const lines = order.flatMap((law) => level.laws[law].map((_, i, { length }) =>
      ({ law, line: i === length - 1, edge: i < length - 1 })));
    return [...lines, ...(level.flows ?? []).map(({ law }) => ({ law }))]
      .map((one, i) => ({ ...one, column: i + 1 }))
      .filter(({ law }) => laws.includes(law));
  }

  function options(chart) {
    const { spec, series, small } = chart;
    const { ticks } = spec.levels[0];
    // A law in several plants has a line style for each. While the pointer is on a law in the bar, the others
    // fade.
    const line = (law) => ({ width: 1.6, alpha: 1, ...data.laws[law] });
    const ink = (law, share) => colour(`qdisc-${data.laws[law].colour}`) +
      hex(named === null || named === law ? share : 0.25 * share);
    const axis = { stroke: () => colour("muted"), font: "12px system-ui, sans-serif", ticks: { show: false } };
    const grid = { stroke: () => colour("rule"), width: 1 };
    const numbers = (_, splits) => splits.map((value) => (value === null ? "" : String(Number(value.toPrecision(8)))));
    const xName = spec.overTime ? "time" : "sojourn";
    const logarithms = ticks ? {
      x: { splits: (_, __, from, to) => decades(from, to), values: (_, splits) => splits.map((at) => short(10 ** at)) },
      y: { splits: () => ticks.map(([at]) => at), values: () => ticks.map(([, name]) => name) },
    } : {};
    const xLabel = small ? {} : { label: `${xName}, ${spec.xUnit}`, labelFont: axis.font, labelSize: 18, labelGap: 0 };
    return {
      width: chart.place.clientWidth,
      height: chart.place.clientHeight,
      padding: [10, 12, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, min: spec.x[0], max: spec.x[1] },
        y: { range: (_, low, high) => fit(chart, low, high) },
      },
      axes: [
        { ...axis, grid: { show: false }, values: numbers, size: 26, gap: 6, space: 70, ...logarithms.x, ...xLabel },
        { ...axis, grid, values: numbers, size: small ? 40 : 46, gap: 6, space: small ? 26 : 36, ...logarithms.y },
      ],
      series: [{}, ...series.map(({ law, line: strong, edge }) => ({
        scale: "y",
        show: !hidden.has(law),
        stroke: edge ? null : () => ink(law, strong ? line(law).alpha : 0.6),
        width: edge ? 0 : strong ? line(law).width * (small ? 0.8 : 1) : 0.8,
        dash: strong && !small && data.laws[law].dash.length ? data.laws[law].dash : undefined,
        points: { show: false },
      }))],
      bands: series.flatMap(({ edge, law }, i) =>
        edge && series[i + 1].edge && (spec.overTime || !many) ? [{ series: [i + 2, i + 1], fill: () => ink(law, small || !many ? 0.19 : 0.1) }] : []),
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 4 },
        points: { size: (_, i) => (series[i - 1].line ? 7 : 0) },
        sync: spec.overTime ? { key: "time", setSeries: false, filters: { pub: moved, sub: moved } } : undefined,
        bind: { dblclick: () => () => zoom(chart, null) },
      },
      hooks: { drawClear: [(plot) => backdrop(chart, plot)], setCursor: [() => showTip(chart)], setSelect: [() => selected(chart)] },
    };
  }

  const moved = (kind) => kind === "mousemove" || kind === "mouseleave";

  // The vertical range: the level's own for the whole run, for panels and for logarithms, else that of the
  // visible values.
  function fit({ spec, view, level, small }, low, high) {
    if (small || level.ticks || (!view && hidden.size === 0) || low === null || high === null) return level.y;
    const room = 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
    return [spec.fromZero ? 0 : low - room, high + room];
  }

  // The background: the warm-up, shaded, and the changes of the schedule, dotted.
  function backdrop({ spec }, plot) {
    if (!spec.overTime) return;
    const { ctx, bbox } = plot;
    const x = (time) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(time, "x", true)));
    ctx.save();
    ctx.fillStyle = colour("rule") + "59";
    ctx.fillRect(bbox.left, bbox.top, x(data.time.warmup) - bbox.left, bbox.height);
    ctx.strokeStyle = colour("muted");
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    for (const time of data.time.changes.filter((time) => time >= plot.scales.x.min && time <= plot.scales.x.max)) {
      ctx.beginPath();
      ctx.moveTo(x(time), bbox.top);
      ctx.lineTo(x(time), bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  // Draw the chart's view, as coarsely as its width allows; one out of view waits until it comes there.
  function show(chart) {
    const { spec, place } = chart;
    chart.stale = !place.clientWidth || chart.away;
    if (chart.stale) return;
    const plot = (chart.plot ??= made(chart));
    if (chart.faded) plot.redraw();
    chart.faded = false;
    const [from, to] = chart.view ?? spec.x;
    const wanted = place.clientWidth / spec.pixelsPerPoint;
    const level = spec.levels.find(({ step }) => (to - from) / step >= wanted) ?? spec.levels.at(-1);
    const other = level !== chart.level;
    chart.level = level;
    plot.batch(() => {
      if (other) plot.setData(shown(chart, level), false);
      plot.setScale("x", { min: from, max: to });
    });
    const points = Math.min(level.points, Math.round((to - from) / level.step));
    Object.assign(place.dataset, { from, to, step: level.step, points, finest: spec.levels.at(-1).points });
    const caption = place.closest("figure").querySelector(".step");
    if (caption) caption.textContent = short(level.step);
  }

  // ---- Interaction ------------------------------------------------------------------------------

  // Show `view`, or the whole run for null; all charts over time zoom together.
  function zoom(chart, view) {
    const began = performance.now();
    const [first, last] = chart.spec.x;
    const least = 4 * chart.spec.levels.at(-1).step;
    if (view && view[1] - view[0] < least) view = [(view[0] + view[1] - least) / 2, (view[0] + view[1] + least) / 2];
    if (view) view = [Math.max(first, view[0]), Math.min(last, view[1])];
    if (view && view[0] <= first && view[1] >= last) view = null;
    for (const one of charts) {
      if (one !== chart && !(one.spec.overTime && chart.spec.overTime)) continue;
      one.view = view;
      one === chart || !one.small ? show(one) : later(one);
    }
    whole.hidden = charts.every((one) => !one.view);
    queueMicrotask(() => performance.measure("zoom", { start: began }));
  }

  // Panels beside the one that is zoomed are drawn in the next frames, a few in each.
  const queued = new Set();
  function later(chart) {
    if (queued.size === 0) requestAnimationFrame(drain);
    queued.add(chart);
  }

  function drain() {
    for (const chart of [...queued].slice(0, 4)) {
      queued.delete(chart);
      show(chart);
    }
    if (queued.size > 0) requestAnimationFrame(drain);
  }

  function selected(chart) {
    const { plot } = chart;
    const { left, width } = plot.select;
    if (width < 1) return;
    const view = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    zoom(chart, view);
  }

  // Show the values under the cursor beside it, only in the chart under the pointer.
  function showTip(chart) {
    const { plot, tip, spec, series, level } = chart;
    const { idx, left } = plot.cursor;
    tip.hidden = chart !== pointed || idx === null || idx === undefined || left < 0;
    if (tip.hidden) return;
    const rows = data.laws.flatMap((_, law) => {
      const one = series.find((one) => one.law === law && one.line);
      const number = one && columns(level)[one.column][idx];
      return !hidden.has(law) && typeof number === "number" ? [row(law, spec, number)] : [];
    });
    const head = document.createElement("b");
    head.textContent = `${short(value(spec, columns(level)[0][idx]))} ${spec.xUnit}`;
    tip.replaceChildren(head, ...rows);
    const far = left > plot.over.clientWidth / 2;
    tip.style.left = far ? "auto" : `${left + 14}px`;
    tip.style.right = far ? `${plot.over.clientWidth - left + 14}px` : "auto";
  }

  function row(law, spec, number) {
    const line = document.createElement("div");
    const chip = document.querySelector(`.toggle[data-law="${law}"] .chip`).cloneNode(true);
    const name = Object.assign(document.createElement("span"), { textContent: data.laws[law].name });
    const output = Object.assign(document.createElement("output"), { textContent: spec.levels[0].ticks ? `${short(100 * 10 ** number)} % longer` : short(number) });
    line.append(chip, name, output);
    return line;
  }

  function pressed(chart, event) {
    const [from, to] = chart.view ?? chart.spec.x;
    const part = (to - from) / 4;
    const zoomed = {
      "+": [from + part, to - part],
      "=": [from + part, to - part],
      "-": [from - 2 * part, to + 2 * part],
      ArrowLeft: [from - part, to - part],
      ArrowRight: [from + part, to + part],
      Escape: null,
    };
    if (!(event.key in zoomed) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoom(chart, event.key.startsWith("Arrow") ? within(chart.spec.x, zoomed[event.key]) : zoomed[event.key]);
  }

  // The view, shifted to lie within the run.
  function within([first, last], [from, to]) {
    const back = Math.max(0, first - from) - Math.max(0, to - last);
    return [from + back, to + back];
  }

  function toggle(button) {
    const law = Number(button.dataset.law);
    hidden.has(law) ? hidden.delete(law) : hidden.add(law);
    choose();
  }

  // Show the laws of the view that are not hidden.
  function choose() {
    for (const button of document.querySelectorAll(".toggle")) {
      button.setAttribute("aria-pressed", String(!hidden.has(Number(button.dataset.law))));
    }
    for (const panel of document.querySelectorAll(".panel")) {
      panel.hidden = panel.dataset.laws.split(" ").every((law) => hidden.has(Number(law)));
    }
    for (const { plot, series } of charts) {
      plot?.batch(() => series.forEach(({ law }, i) => {
        if (plot.series[i + 1].show === hidden.has(law)) plot.setSeries(i + 1, { show: !hidden.has(law) });
      }));
    }
  }

  // Panels, or the overlay of some laws.
  function turn() {
    const panels = root.classList.toggle("panelled");
    hidden = panels ? views.panels : views.overlay;
    overlay.textContent = panels ? "overlay" : "panels";
    choose();
  }

  // ---- Tables and points ------------------------------------------------------------------------

  // A click on the head of a column sorts the rows by it, a second one the other way; names go by the alphabet,
  // and cells without a number last.
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    const [body] = table.tBodies;
    const number = (cell) => parseFloat(cell.firstChild.textContent.replace("\u2212", "-"));
    const order = (column) => (one, other) => {
      const [left, right] = [one, other].map((row) => row.cells[column]);
      if (column === 0) return left.textContent.localeCompare(right.textContent);
      return number(left) - number(right);
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const ascending = head.ariaSort !== "ascending";
        for (const other of heads) other.ariaSort = null;
        head.ariaSort = ascending ? "ascending" : "descending";
        const rows = [...body.rows];
        const filled = rows.filter((row) => column === 0 || !Number.isNaN(number(row.cells[column]))).sort(order(column));
        const empty = rows.filter((row) => !filled.includes(row));
        body.append(...(ascending ? filled : filled.reverse()), ...empty);
      });
    });
  }

  // While the pointer is on a law in the bar, in a table or on its point, the others fade.
  function highlight(law) {
    named = law;
    for (const row of document.querySelectorAll("tr[data-law]")) row.classList.toggle("named", Number(row.dataset.law) === law);
    for (const point of document.querySelectorAll(".tradeoff g[data-law]")) {
      point.classList.toggle("faded", law !== null && Number(point.dataset.law) !== law);
    }
    repaint();
  }

  // Show one of several links; the others' charts get their size when shown.
  function look(link) {
    document.querySelectorAll("section.link").forEach((part, i) => part.classList.toggle("shown", i === link));
    for (const button of places) button.setAttribute("aria-pressed", String(Number(button.dataset.link) === link));
  }

  function repaint() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : night.matches;
    theme.textContent = dark ? "light" : "dark";
    for (const chart of charts) chart.stale ? (chart.faded = Boolean(chart.plot)) : chart.plot.redraw();
  }

  // ---- Start ------------------------------------------------------------------------------------

  let pointed = null; // the chart under the pointer
  let named = null; // the law under the pointer, in the bar

  function begin(spec) {
    const place = document.querySelector(`[data-chart="${spec.name}"]`);
    if (many && spec.overTime) place.before(panels(spec, place.closest("figure").querySelector("h3").firstChild.textContent));
    prepare(spec, place, all);
  }

  // A chart of some laws at a place, drawn while it is in view.
  function prepare(spec, place, laws, small = false) {
    const chart = { spec, place, small, view: null, level: spec.levels[0], series: seriesOf(spec, laws), away: true, stale: true };
    charts.push(chart);
    place.addEventListener("keydown", (event) => pressed(chart, event));
    inView.set(place, chart);
    seen.observe(place);
  }

  // Its picture, with the laws hidden by now.
  function made(chart) {
    const { place } = chart;
    chart.tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    const plot = new uPlot(options(chart), shown(chart, chart.level), place);
    plot.over.append(chart.tip);
    plot.over.addEventListener("mouseenter", () => (pointed = chart));
    plot.over.addEventListener("mouseleave", () => ((pointed = null), (chart.tip.hidden = true)));
    new ResizeObserver(() => {
      if (!place.clientWidth) return;
      plot.setSize({ width: place.clientWidth, height: place.clientHeight });
      show(chart);
    }).observe(place);
    return plot;
  }

  // A panel for each qdisc, in reach of keys.
  function panels(spec, title) {
    const grid = Object.assign(document.createElement("div"), { className: "panels" });
    data.qdiscs.forEach((name, qdisc) => {
      const laws = all.filter((law) => data.laws[law].qdisc === qdisc);
      const panel = Object.assign(document.createElement("div"), { className: "panel" });
      const place = Object.assign(document.createElement("div"), { className: "chart", tabIndex: 0, role: "group", ariaLabel: `${title}: ${name}` });
      place.setAttribute("aria-describedby", "keys");
      panel.dataset.laws = laws.join(" ");
      panel.append(Object.assign(document.createElement("span"), { className: "law", textContent: name }), place);
      grid.append(panel);
      prepare(spec, place, laws, true);
    });
    return grid;
  }

  const began = performance.now();
  const charts = [];
  const inView = new Map(); // the chart of each place
  const seen = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const chart = inView.get(target);
      chart.away = !isIntersecting;
      try {
        show(chart);
      } catch (fault) {
        root.classList.remove("live"); // show the still pictures again
        throw fault;
      }
    }
  }, { rootMargin: "200px" });
  root.classList.add("live");
  root.classList.toggle("panelled", many);
  overlay.hidden = !many;
  try {
    data.charts.forEach(begin);
  } catch (fault) {
    root.classList.remove("live"); // show the still pictures again
    throw fault;
  }
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50)); // for Safari
  const waiting = data.charts.flatMap((spec) => spec.levels);
  idle(function ahead() {
    // Unpack levels one by one while idle, so that scrolling and zooming do not wait.
    if (waiting.length === 0) return;
    columns(waiting.shift());
    idle(ahead);
  });
  queueMicrotask(() => performance.measure("first picture", { start: began }));
  for (const button of document.querySelectorAll(".toggle")) {
    button.addEventListener("click", () => toggle(button));
  }
  for (const place of document.querySelectorAll(".toggle, tr[data-law], .tradeoff g[data-law]")) {
    place.addEventListener("mouseenter", () => highlight(Number(place.dataset.law)));
    place.addEventListener("mouseleave", () => highlight(null));
  }
  document.querySelectorAll("table.sortable").forEach(sortable);
  for (const button of places) button.addEventListener("click", () => look(Number(button.dataset.link)));
  overlay.addEventListener("click", turn);
  whole.addEventListener("click", () => charts.forEach((chart) => zoom(chart, null)));
  theme.addEventListener("click", () => {
    root.dataset.theme = theme.textContent;
    repaint();
  });
  night.addEventListener("change", repaint);
  repaint();
})();
