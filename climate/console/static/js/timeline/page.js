// SPDX-License-Identifier: Apache-2.0
// The page of the timeline: controls above the picture, and what happens on a click.

import {criteria as translate} from '../translations.js';
import {calm, element} from '../dom.js';
import {moveEnd} from '../lease/changes.js';
import {loadTexts, t} from '../texts.js';
import {DAY, HOUR, YEAR, iso, now, seconds, words} from '../times.js';
import {onZone} from '../zones.js';
import {Hint} from './hint.js';
import {showLegend} from './legend.js';
import {Source} from './source.js';
import {Suggestions} from './suggestions.js';
import {View} from './view.js';
import {showQueue} from './waiting.js';

const SPANS = {hour: HOUR, day: DAY, week: 7 * DAY, month: 30 * DAY, year: YEAR};
// The controls whose values are in the address, so that Back and a copied address show the same.
const CONTROLS = ['pool', 'group', 'colour', 'search', 'criteria'];
const ADDRESS_MS = 300;
// What a click on a bar without a name shows, in lengths of the bar.
const NEARER = 8;

await loadTexts();
const given = new URLSearchParams(location.search);
const filter = {pool: '', criteria: ''};
let model = null;

const source = new Source((found) => {
  model = found;
  offerGroups(found.properties);
  colourBars();
  showRows();
  showWaiting();
  element('timeline').dataset.bars = found.barCount;
}, (problem) => say('source-problem', problem?.message ?? ''));

/** Open the lease of a bar; look nearer if the bar was too short to have one. */
function open(bar) {
  if (bar.lease) location.assign(`/leases/${bar.lease.id}`);
  else if (bar.status || bar.kind === 'several') {
    const span = NEARER * (bar.end - bar.start);
    view.lookAt((bar.start + bar.end - span) / 2, span);
  }
}

/** Keep what is in sight in the address, so that it can be sent to somebody. */
const keepInAddress = calm(() => {
  const {scale} = view;
  const query = new URLSearchParams({from: iso(scale.start), to: iso(scale.end)});
  for (const name of CONTROLS) if (element(name).value) query.set(name, element(name).value);
  history.replaceState(history.state, '', `?${query}`);
}, ADDRESS_MS);

const hint = new Hint(element('hint'));
const view = new View(element('timeline'), {
  onSight: (scale) => {
    if (filter.pool) source.show(scale, {...filter});
    markSpan(scale.span);
    keepInAddress();
  },
  onOpen: open,
  onNew: ({start, end, lanes}) => location.assign(`/leases/new?${new URLSearchParams({
    pool: filter.pool, start: iso(start), end: iso(end), count: Math.max(1, lanes.length),
    criteria: filter.criteria,
    resources: lanes.map((lane) => lane.resource.name ?? '').filter(Boolean).join(',')})}`),
  onMoveEnd: moveTheEnd,
  onHover: (bar, event) => hint.show(bar, event),
  onSay: (text) => say('said', text),
});

/** Change the end of a lease whose bar was dragged, if the user means it. */
async function moveTheEnd(bar, moment) {
  const key = moment > bar.end ? 'timeline.extend_question' : 'timeline.shorten_question';
  const question = t(key, {name: bar.lease.name, end: words(moment)});
  say('problem', '');
  try {
    await moveEnd(bar.lease.id, moment, null, {question, yes: t('timeline.move_end'), always: true});
    source.refresh();
  } catch (error) {
    say('problem', error.message);
  }
}

function say(id, text) { element(id).textContent = text; }

function markSpan(shown) {
  for (const [name, span] of Object.entries(SPANS)) {
    element(`span-${name}`).setAttribute('aria-pressed', Math.abs(shown - span) < 1);
  }
}

function showRows() {
  if (!model) return;
  const search = element('search').value;
  const rows = model.rows(element('group').value, search);
  view.setRows(rows);
  const why = search ? t('timeline.found_nothing', {text: search}) : t('timeline.no_resources');
  say('nothing', rows.length ? '' : why);
}

function colourBars() {
  if (!model) return;
  const by = element('colour').value;
  showLegend(element('legend'), view.painter.palette, by, model.colour(by));
  view.redraw();
}

function showWaiting() {
  if (model) showQueue(model.queue, filter.pool);
}

function offerGroups(names) {
  const select = element('group');
  const known = new Set([...select.options].map((option) => option.value));
  for (const name of names) {
    if (!known.has(name)) select.add(new Option(t('timeline.group_by', {name}), name));
  }
}

/** Ask for the resources that meet the criteria and the pool of the controls. */
async function setFilter() {
  const text = element('criteria').value;
  const found = text ? await translate(text) : {criteria: ''};
  if (text !== element('criteria').value) return;
  say('problem', found.problem ?? '');
  if (found.problem) return;
  Object.assign(filter, {pool: element('pool').value, criteria: found.criteria});
  source.show(view.scale, {...filter});
}

/** Give the controls the values of the address, also those that the browser has remembered. */
function readAddress() {
  if (given.get('group')) offerGroups([given.get('group')]);
  for (const name of CONTROLS) {
    const control = element(name);
    const text = given.get(name) ?? (name === 'pool' ? control.dataset.default : '');
    if (control.type === 'search' || [...control.options ?? [{value: text}]].some(
      (option) => option.value === text)) control.value = text;
  }
  element('makes').checked = false;
  if (given.has('from') && given.has('to')) {
    const [from, to] = [seconds(given.get('from')), seconds(given.get('to'))];
    if (to > from) view.lookAt(from, to - from);
  }
}

const on = (id, name, handler) => element(id).addEventListener(name, (event) => {
  handler(event.target);
  keepInAddress();
});
on('pool', 'change', setFilter);
on('criteria', 'change', setFilter);
on('group', 'change', showRows);
on('search', 'input', showRows);
on('colour', 'change', colourBars);
on('makes', 'change', (box) => { view.makes = box.checked; });
on('zoom-in', 'click', () => view.zoom(2));
on('zoom-out', 'click', () => view.zoom(0.5));
on('today', 'click', () => view.lookAt(now() - view.scale.span / 8, view.scale.span));
for (const [name, span] of Object.entries(SPANS)) {
  on(`span-${name}`, 'click', () => view.lookAt(now() - span / 8, span));
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  view.readColours();
  colourBars();
});
onZone(() => { view.redraw(); showWaiting(); });
new Suggestions(element('criteria'), () => filter);
readAddress();
await setFilter();
// For measurements and tests.
window.climateTimeline = {view, source};
