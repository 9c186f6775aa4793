// Interactive pictures: cursor, zoom, laws shown or hidden. Without scripts the still ones remain.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const whole = document.getElementById("whole");
  const theme = document.getElementById("theme");
  const night = matchMedia("(prefers-color-scheme: dark)");
  const places = document.querySelectorAll("button.place");
  const hidden = new Set(); // indices of the hidden laws
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
  const order = [...data.laws.keys()].sort((one, other) => (data.laws[other].width ?? 0) - (data.laws[one].width ?? 0));

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

  // ---- Pictures ---------------------------------------------------------------------------------

  // The series other than x, each with its law; `mean` is true for the law's mean.
  function seriesOf(spec) {
    const level = spec.levels[0];
    const laws = order.flatMap((law) => level.laws[law].map((_, i, { length }) =>
      ({ law, mean: i === length - 1, edge: i < length - 1 })));
    return [...laws, ...(level.flows ?? []).map(({ law }) => ({ law }))];
  }

  function options(chart) {
    const { spec, series } = chart;
    // A law in several plants has a line style for each. While the pointer is on a law in the bar, the others
    // fade.
    const line = (law) => ({ width: 1.6, alpha: 1, ...data.laws[law] });
    const ink = (law, share) => colour(`qdisc-${data.laws[law].colour}`) +
      hex(named === null || named === law ? share : 0.25 * share);
    const axis = { stroke: () => colour("muted"), font: "12px system-ui, sans-serif", ticks: { show: false } };
    const grid = { stroke: () => colour("rule"), width: 1 };
    const numbers = (_, splits) => splits.map((value) => (value === null ? "" : String(Number(value.toPrecision(8)))));
    const xName = spec.overTime ? "time" : "sojourn";
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
        { ...axis, grid: { show: false }, values: numbers, size: 26, gap: 6, space: 70,
          label: `${xName}, ${spec.xUnit}`, labelFont: axis.font, labelSize: 18, labelGap: 0 },
        { ...axis, grid, values: numbers, size: 46, gap: 6, space: 36 },
      ],
      series: [{}, ...series.map(({ law, mean, edge }) => ({
        scale: "y",
        show: !hidden.has(law),
        stroke: edge ? null : () => ink(law, mean ? line(law).alpha : 0.6),
        width: edge ? 0 : mean ? line(law).width : 0.8,
        dash: mean && data.laws[law].dash.length ? data.laws[law].dash : undefined,
        points: { show: false },
      }))],
      bands: series.flatMap(({ edge, law }, i) =>
        edge && series[i + 1].edge ? [{ series: [i + 2, i + 1], fill: () => ink(law, data.laws.length > 4 ? 0.1 : 0.19) }] : []),
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 4 },
        points: { size: (_, i) => (series[i - 1].mean ? 7 : 0) },
        sync: spec.overTime ? { key: "time", setSeries: false, filters: { pub: moved, sub: moved } } : undefined,
        bind: { dblclick: () => () => zoom(chart, null) },
      },
      hooks: { drawClear: [(plot) => backdrop(chart, plot)], setCursor: [() => showTip(chart)], setSelect: [() => selected(chart)] },
    };
  }

  const moved = (kind) => kind === "mousemove" || kind === "mouseleave";

  // The vertical range: the level's own for the whole run, else that of the visible values.
  function fit({ spec, view, level }, low, high) {
    if ((!view && hidden.size === 0) || low === null || high === null) return level.y;
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

  // Draw the chart's view, as coarsely as its width allows.
  function show(chart) {
    const { spec, plot, place } = chart;
    const [from, to] = chart.view ?? spec.x;
    const wanted = place.clientWidth / spec.pixelsPerPoint;
    const level = spec.levels.find(({ step }) => (to - from) / step >= wanted) ?? spec.levels.at(-1);
    const other = level !== chart.level;
    chart.level = level;
    plot.batch(() => {
      if (other) plot.setData(columns(level), false);
      plot.setScale("x", { min: from, max: to });
    });
    const points = Math.min(level.points, Math.round((to - from) / level.step));
    Object.assign(place.dataset, { from, to, step: level.step, points, finest: spec.levels.at(-1).points });
    const caption = place.parentElement.querySelector(".step");
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
      show(one);
    }
    whole.hidden = charts.every((one) => !one.view);
    queueMicrotask(() => performance.measure("zoom", { start: began }));
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
      const value = columns(level)[series.findIndex((one) => one.law === law && one.mean) + 1][idx];
      return !hidden.has(law) && value !== null ? [row(law, value)] : [];
    });
    const head = document.createElement("b");
    head.textContent = `${short(columns(level)[0][idx])} ${spec.xUnit}`;
    tip.replaceChildren(head, ...rows);
    const far = left > plot.over.clientWidth / 2;
    tip.style.left = far ? "auto" : `${left + 14}px`;
    tip.style.right = far ? `${plot.over.clientWidth - left + 14}px` : "auto";
  }

  function row(law, value) {
    const line = document.createElement("div");
    const chip = document.querySelector(`.toggle[data-law="${law}"] .chip`).cloneNode(true);
    const name = Object.assign(document.createElement("span"), { textContent: data.laws[law].name });
    const output = Object.assign(document.createElement("output"), { textContent: short(value) });
    line.append(chip, name, output);
    return line;
  }

  function pressed(chart, event) {
    const [from, to] = chart.view ?? chart.spec.x;
    const part = (to - from) / 4;
    const views = {
      "+": [from + part, to - part],
      "=": [from + part, to - part],
      "-": [from - 2 * part, to + 2 * part],
      ArrowLeft: [from - part, to - part],
      ArrowRight: [from + part, to + part],
      Escape: null,
    };
    if (!(event.key in views) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoom(chart, event.key.startsWith("Arrow") ? within(chart.spec.x, views[event.key]) : views[event.key]);
  }

  // The view, shifted to lie within the run.
  function within([first, last], [from, to]) {
    const back = Math.max(0, first - from) - Math.max(0, to - last);
    return [from + back, to + back];
  }

  function toggle(button) {
    const law = Number(button.dataset.law);
    hidden.has(law) ? hidden.delete(law) : hidden.add(law);
    button.setAttribute("aria-pressed", String(!hidden.has(law)));
    for (const { plot, series } of charts) {
      plot.batch(() => series.forEach((one, i) => one.law === law && plot.setSeries(i + 1, { show: !hidden.has(law) })));
    }
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
      return number(left) - number(right) || 0;
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
        const rows = [...body.rows].sort(order(column));
        const filled = rows.filter((row) => column === 0 || !Number.isNaN(number(row.cells[column])));
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
    for (const button of places) button.setAttribute("aria-selected", String(Number(button.dataset.link) === link));
  }

  function repaint() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : night.matches;
    theme.textContent = dark ? "light" : "dark";
    for (const { plot } of charts) plot.redraw();
  }

  // ---- Start ------------------------------------------------------------------------------------

  let pointed = null; // the chart under the pointer
  let named = null; // the law under the pointer, in the bar

  function begin(spec) {
    const place = document.querySelector(`[data-chart="${spec.name}"]`);
    const chart = { spec, place, view: null, level: spec.levels[0], series: seriesOf(spec) };
    chart.tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    chart.plot = new uPlot(options(chart), columns(chart.level), place);
    chart.plot.over.append(chart.tip);
    chart.plot.over.addEventListener("mouseenter", () => (pointed = chart));
    chart.plot.over.addEventListener("mouseleave", () => ((pointed = null), (chart.tip.hidden = true)));
    place.addEventListener("keydown", (event) => pressed(chart, event));
    show(chart);
    new ResizeObserver(() => {
      chart.plot.setSize({ width: place.clientWidth, height: place.clientHeight });
      show(chart);
    }).observe(place);
    return chart;
  }

  const began = performance.now();
  let charts = [];
  root.classList.add("live");
  try {
    charts = data.charts.map(begin);
  } catch (fault) {
    root.classList.remove("live"); // show the still pictures again
    throw fault;
  }
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50)); // for Safari
  const waiting = data.charts.flatMap((spec) => spec.levels.slice(1));
  idle(function ahead() {
    // Unpack finer levels one by one while idle, so that zooming does not wait.
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
  whole.addEventListener("click", () => charts.forEach((chart) => zoom(chart, null)));
  theme.addEventListener("click", () => {
    root.dataset.theme = theme.textContent;
    repaint();
  });
  night.addEventListener("change", repaint);
  repaint();
})();
