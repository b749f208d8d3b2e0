'use strict';
// Runs on one page: a list with progress, the figures of a run, a chart that can be asked, and a comparison of two.
// Markers of the figures, as Chart.js draws them: style, turn in degrees, whether it is filled.
const MARKERS = { disc: ['circle', 0, true], square: ['rect', 0, true], triangle_up: ['triangle', 0, true],
  triangle_down: ['triangle', 180, true], diamond: ['rectRot', 0, true], plus: ['cross', 0, true], cross: ['crossRot', 0, true] };
const state = { runs: [], shown: '', ticked: [], charts: [], view: {} };

const make = (tag, text, className) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
};
const ask = async path => {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};
const digits = (value, n = 4) => value === undefined ? '–' : Number(value.toPrecision(n)).toString();

/** A value with its axis, except where the value says what it is. */
const named = (axis, value) => ['path', 'placement', 'kernel'].includes(axis) ? String(value) : `${axis} ${value}`;

/** The unit in which figures print values of a run's unit: times below 1000 in the longest unit that the least one reaches. */
const prefixed = (unit, least) => {
  const larger = [['s', 1e9], ['ms', 1e6], ['\u00b5s', 1e3]].find(([, ns]) => unit === 'ns' && least >= ns);
  return larger ? { unit: larger[0], factor: 1 / larger[1] } : { unit, factor: 1 };
};

/** Intervals of the medians, as bars with caps in the colour of their line. */
const whiskers = {
  id: 'whiskers',
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: area, scales: { y } } = chart;
    chart.data.datasets.forEach((line, i) => chart.getDatasetMeta(i).data.forEach((mark, at) => {
      const ci = line.data[at].ci;
      if (!ci || !chart.isDatasetVisible(i)) return;
      const [low, high] = ci.map(value => y.getPixelForValue(value));
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left - 4, area.top, area.width + 8, area.height);
      ctx.clip();
      ctx.strokeStyle = line.borderColor;
      ctx.beginPath();
      for (const end of [low, high]) { ctx.moveTo(mark.x - 3, end); ctx.lineTo(mark.x + 3, end); }
      ctx.moveTo(mark.x, low);
      ctx.lineTo(mark.x, high);
      ctx.stroke();
      ctx.restore();
    }));
  },
};

async function refresh() {
  try {
    state.runs = await ask('/api/runs');
    list();
    const run = state.runs.find(each => each.id === state.shown);
    if (run && run.recorded !== state.recorded) { state.recorded = run.recorded; if (state.ticked.length < 2) await show(run.id); }
    if (!state.shown && !state.ticked.length && state.runs.length) await open();
  } finally {
    const busy = state.runs.some(run => run.state === 'running');
    setTimeout(refresh, busy ? 1000 : 5000);
  }
}

/** What the address names behind its #: one run, or two to compare; else the newest run. */
async function open() {
  const named = location.hash.slice(1).split(',').filter(id => state.runs.some(run => run.id === id));
  if (named.length === 2) { state.ticked = named; list(); await compare(...named); }
  else await show(named[0] ?? state.runs[0].id);
}

function list() {
  const runs = document.getElementById('runs');
  runs.replaceChildren(...state.runs.map(run => {
    const item = make('li', undefined, run.id === state.shown ? 'chosen' : '');
    const tick = make('input');
    tick.type = 'checkbox';
    tick.checked = state.ticked.includes(run.id);
    tick.setAttribute('aria-label', 'compare ' + run.id);
    tick.onchange = () => choose(run.id, tick.checked);
    const button = make('button');
    button.append(make('b', run.experiment + (run.tags.length ? ' · ' + run.tags.join(', ') : '')), make('small', run.id),
      make('small', `${run.state}, ${run.recorded} of ${run.points} points, ${run.basis}`));
    if (run.state === 'running') {
      const bar = make('progress');
      bar.max = run.points;
      bar.value = run.recorded;
      button.append(bar);
    }
    button.onclick = () => { state.ticked = []; show(run.id); };
    item.append(tick, button);
    return item;
  }));
  if (!state.runs.length) runs.append(make('li', 'No run is in this folder yet: doorbell run pull-vs-push'));
}

/** Ticks a run; of more than two the last two stay. */
function choose(id, on) {
  state.ticked = on ? [...state.ticked, id].slice(-2) : state.ticked.filter(each => each !== id);
  list();
  if (state.ticked.length === 2) compare(...state.ticked);
  else if (state.ticked.length === 1) show(state.ticked[0]);
}

function clear(heading, ...below) {
  state.charts.forEach(chart => chart.destroy());
  state.charts = [];
  const main = document.getElementById('main');
  main.replaceChildren(make('h2', heading), ...below);
  return main;
}

async function show(id) {
  state.shown = id;
  history.replaceState(null, '', '#' + id);
  state.recorded = (state.runs.find(run => run.id === id) || {}).recorded;
  list();
  if (!document.querySelector('main h2')) clear(id, make('p', 'Reading the run ...', 'note'));
  let run;
  try { run = await ask('/api/run?id=' + encodeURIComponent(id)); }
  catch (e) { clear(id, make('p', e.message, 'note')); return; }
  if (state.shown !== id || state.ticked.length === 2) return;
  const about = make('p', run.question, 'note');
  const link = make('a', 'report');
  link.href = '/report?id=' + encodeURIComponent(id);
  about.append(' ', make('span', run.basis, 'basis'), ' ', link);
  const main = clear(id, about);
  if (!run.points.length) { main.append(make('p', 'No point has a result yet.', 'note')); return; }
  chart(main, [run]);
  main.append(make('h3', 'Figures of the config'));
  const figures = make('div', undefined, 'figures');
  for (const figure of run.figures) {
    const node = make('figure');
    const svg = new DOMParser().parseFromString(figure.svg, 'image/svg+xml').documentElement;
    node.append(document.importNode(svg, true), make('figcaption', figure.name + ': ' + figure.caption));
    figures.append(node);
  }
  main.append(figures);
  run.missing.forEach(why => main.append(make('p', why, 'note')));
  if (run.expectations) {
    main.append(make('h3', 'Expected'));
    main.append(table(['verdict', 'expected', 'found'], run.expectations.map(each => [each.verdict, each.expected, each.found])));
  }
}

async function compare(a, b) {
  state.shown = '';
  history.replaceState(null, '', `#${a},${b}`);
  const main = clear(`${a} → ${b}`);
  try {
    const [before, after] = await Promise.all([a, b].map(id => ask('/api/run?id=' + encodeURIComponent(id))));
    if (before.basis === after.basis) chart(main, [before, after]);
    const found = await ask(`/api/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
    main.append(make('h3', `Overall: ${found.overall}`));
    const axes = before.axes.map(axis => axis.name);
    main.append(table([...axes, 'metric', 'before', 'after', 'change', 'verdict'],
      found.points.map(p => [...axes.map(axis => p[axis] ?? ''), `${p.metric} ${p.unit}`, digits(p.before), digits(p.after),
        p.change === undefined ? '' : (100 * p.change).toFixed(1) + ' %', p.verdict])));
  } catch (e) { main.append(make('p', e.message, 'note')); }
}

function table(header, rows) {
  const node = make('table');
  const number = header.map((_, i) => rows.every(row => /^([-+]?[0-9.]+([eE][-+]?[0-9]+)?( %)?|\u2013|)$/.test(String(row[i]))));
  const head = node.createTHead().insertRow();
  header.forEach((text, i) => head.append(make('th', text, number[i] ? 'number' : '')));
  const body = node.createTBody();
  rows.forEach(row => {
    const line = body.insertRow();
    row.forEach((cell, i) => line.append(make('td', String(cell), number[i] ? 'number' : ['regressed', 'improved'].find(w => cell === w))));
  });
  const scroll = make('div', undefined, 'scroll');
  scroll.append(node);
  return scroll;
}

/** A chart of medians: metric, abscissa and lines can be chosen; other axes make lines too. */
function chart(main, runs) {
  const axes = runs[0].axes.map(axis => axis.name);
  const values = axis => [...new Set(runs.flatMap(run => run.points.map(point => point[axis])))];
  const numeric = axes.filter(axis => values(axis).every(value => typeof value === 'number') && values(axis).length > 1);
  const metrics = [...new Set(runs.flatMap(run => run.points.flatMap(point => Object.keys(point.metrics))))];
  if (!numeric.length) return;
  const controls = make('div', undefined, 'controls');
  const holder = make('div', undefined, 'chart');
  const canvas = make('canvas');
  holder.append(canvas);
  const pick = (label, options, first) => {
    const select = make('select');
    options.forEach(option => select.append(new Option(option, option, false, option === first)));
    const node = make('label', label + ' ');
    node.append(select);
    controls.append(node);
    select.onchange = draw;
    return select;
  };
  const view = state.view;
  const y = pick('metric', metrics, metrics.includes(view.y) ? view.y : metrics[0]);
  const x = pick('over', numeric, numeric.includes(view.x) ? view.x : numeric.includes('size') ? 'size' : numeric[0]);
  // The first axis of words makes lines at once; of further ones one value, where all would be more lines than can be told apart.
  let lines = 1;
  const only = axes.filter(axis => values(axis).length > 1).map(axis => {
    const many = axis !== x.value && (lines *= values(axis).length) > 8;
    if (many) lines /= values(axis).length;
    return [axis, pick(axis, ['all', ...values(axis).map(String)], many ? String(values(axis)[0]) : 'all')];
  });
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink'), rule = style.getPropertyValue('--rule'),
    ground = style.getPropertyValue('--ground');
  const drawn = new Chart(canvas, {
    type: 'line', data: { datasets: [] }, plugins: [whiskers],
    options: {
      animation: false, maintainAspectRatio: false, parsing: false, interaction: { mode: 'nearest', intersect: false },
      scales: Object.fromEntries(['x', 'y'].map(axis => [axis, { type: 'logarithmic', title: { display: true, color: ink },
        ticks: { color: ink }, grid: { color: rule } }])),
      plugins: { legend: { labels: { color: ink, usePointStyle: true, boxWidth: 8, boxHeight: 8 } },
        tooltip: { callbacks: { label: item => `${item.dataset.label}: ${digits(item.raw.y)} ${item.raw.unit}` +
          (item.raw.ci ? ` [${digits(item.raw.ci[0])}, ${digits(item.raw.ci[1])}]` : '') + `, n = ${item.raw.n}` } } },
    },
  });
  // Ticks stand at the values that were run, in units of 1024 bytes where the axis has bytes.
  drawn.options.scales.x.afterBuildTicks = scale => {
    const run = [...new Set(drawn.data.datasets.flatMap(line => line.data.map(point => point.x)))];
    if (run.length > 0 && run.length <= 24) scale.ticks = run.sort((a, b) => a - b).map(value => ({ value }));
  };
  drawn.options.scales.x.ticks.callback = value => {
    const unit = x.value !== 'size' ? -1 : [1 << 20, 1 << 10].findIndex(each => value % each === 0);
    return unit < 0 ? String(value) : `${value / (unit === 0 ? 1 << 20 : 1 << 10)} ${unit === 0 ? 'MiB' : 'KiB'}`;
  };
  state.charts.push(drawn);
  let turn = 0;
  async function draw() {
    const mine = ++turn;
    view.x = x.value;
    view.y = y.value;
    const lines = new Map();
    let unit = '', least = Infinity, lowest = Infinity, highest = 0;
    runs.forEach((run, r) => run.points.forEach(point => {
      const metric = point.metrics[y.value];
      const wanted = only.every(([axis, select]) => axis === x.value || select.value === 'all' || String(point[axis]) === select.value);
      if (!wanted || !metric || metric.p50 === undefined) return;
      const others = only.filter(([axis, select]) => axis !== x.value && select.value === 'all').map(([axis]) => named(axis, point[axis]));
      const label = [others.join(', '), ...(runs.length > 1 ? [r ? 'after' : 'before'] : [])].join(' ').trim() || y.value;
      unit = metric.unit;
      lowest = Math.min(lowest, metric.p50);
      highest = Math.max(highest, metric.p50);
      least = Math.min(least, metric.p50, point[x.value], ...(metric.ci95 ?? []));
      if (!lines.has(label)) lines.set(label, { points: [], dash: r });
      lines.get(label).points.push({ x: point[x.value], y: metric.p50, ci: metric.ci95, n: metric.n, unit });
    }));
    const key = label => label.replace(/ ?(before|after)$/, '');
    const names = [...new Set([...lines.keys()].map(key))];
    const looks = names.length ? await ask('/api/looks?series=' + encodeURIComponent(names.join('|'))) : [];
    if (mine !== turn || !state.charts.includes(drawn)) return; // something else has been chosen since
    const shown = prefixed(unit, lowest);
    lines.forEach(line => line.points.forEach(point => {
      point.y *= shown.factor;
      point.ci = point.ci?.map(value => value * shown.factor);
      point.unit = shown.unit;
    }));
    drawn.data.datasets = [...lines].map(([label, line]) => {
      const look = looks[names.indexOf(key(label))];
      const colour = look.colour === '#000000' ? ink : look.colour;
      const [pointStyle, pointRotation, filled] = MARKERS[look.marker];
      return { label, data: line.points.sort((a, b) => a.x - b.x), borderColor: colour, backgroundColor: filled ? colour : ground,
        pointStyle, pointRotation, borderDash: line.dash ? [6, 4] : [], borderWidth: 2, pointRadius: 4 };
    });
    const kind = least > 0 ? 'logarithmic' : 'linear';
    drawn.options.scales.x.type = kind;
    // As the figures: even steps near the data where values lie close together.
    const type = highest < 3 * lowest ? 'linear' : kind;
    drawn.options.scales.y.type = type;
    drawn.options.scales.y.ticks.callback = Chart.Ticks.formatters[type === 'linear' ? 'numeric' : type];
    const along = runs[0].axes.find(axis => axis.name === x.value).unit;
    drawn.options.scales.x.title.text = x.value + (along && x.value !== 'size' ? ` (${along})` : '');
    drawn.options.scales.y.title.text = `${y.value}, median${shown.unit ? ' (' + shown.unit + ')' : ''}`;
    drawn.update();
  }
  main.append(make('h3', 'Explore'), controls, holder);
  draw();
}

refresh();
