// SPDX-License-Identifier: Apache-2.0
// The page of the timeline: controls above the picture, and what happens on a click.

import {criteria as translate} from '../translations.js';
import {calm, element} from '../dom.js';
import {moveEnd} from '../lease/changes.js';
import {loadTexts, t} from '../texts.js';
import {DAY, HOUR, YEAR, iso, now, seconds, words} from '../times.js';
import {onZone} from '../zones.js';
import {Source} from './source.js';
import {View} from './view.js';
import {showQueue} from './waiting.js';

const SPANS = {hour: HOUR, day: DAY, week: 7 * DAY, month: 30 * DAY, year: YEAR};

const ADDRESS_MS = 300;
// What a click on a bar without a name shows, in lengths of the bar.
const NEARER = 8;

await loadTexts();
const given = new URLSearchParams(location.search);
if (given.has('pool')) element('pool').value = given.get('pool');
const filter = {pool: element('pool').value, criteria: ''};
let model = null;

const source = new Source((found) => {
  model = found;
  offerGroups(found.properties);
  showRows();
  showWaiting();
  element('timeline').dataset.bars = found.barCount;
}, (problem) => say('problem', problem?.message ?? ''));

/** Open the lease of a bar; look nearer if the bar was too short to have one. */
function open(bar) {
  if (bar.lease) location.assign(`/leases/${bar.lease.id}`);
  else if (bar.status || bar.kind === 'several') {
    const span = NEARER * (bar.end - bar.start);
    view.lookAt((bar.start + bar.end - span) / 2, span);
  }
}

/** Keep what is in sight in the address, so that it can be sent to somebody. */
const keepInAddress = calm((scale) => {
  const query = new URLSearchParams({pool: filter.pool, from: iso(scale.start), to: iso(scale.end)});
  history.replaceState(null, '', `?${query}`);
}, ADDRESS_MS);

const view = new View(element('timeline'), {
  onSight: (scale) => {
    source.show(scale, {...filter});
    keepInAddress(scale);
  },
  onOpen: open,
  onNew: ({start, end, lanes}) => location.assign(`/leases/new?${new URLSearchParams({
    pool: filter.pool, start: iso(start), end: iso(end), count: Math.max(1, lanes.length),
    criteria: filter.criteria,
    resources: lanes.map((lane) => lane.resource.name ?? '').filter(Boolean).join(',')})}`),
  onMoveEnd: moveTheEnd,
  onSay: (text) => say('said', text),
});

/** Change the end of a lease whose bar was dragged, if the user means it. */
async function moveTheEnd(bar, moment) {
  const key = moment > bar.end ? 'timeline.extend_question' : 'timeline.shorten_question';
  const question = t(key, {name: bar.lease.name, end: words(moment)});
  try {
    await moveEnd(bar.lease.id, moment, null, {question, yes: t('timeline.move_end'), always: true});
    source.refresh();
  } catch (error) {
    say('problem', error.message);
  }
}

function say(id, text) { element(id).textContent = text; }

function showRows() {
  if (model) view.setRows(model.rows(element('group').value, element('search').value));
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

async function setCriteria(text) {
  const found = await translate(text);
  say('problem', found.problem ?? '');
  if (found.problem) return;
  filter.criteria = found.criteria;
  source.show(view.scale, {...filter});
}

element('pool').addEventListener('change', (event) => {
  filter.pool = event.target.value;
  source.show(view.scale, {...filter});
});
element('group').addEventListener('change', showRows);
element('search').addEventListener('input', showRows);
element('criteria').addEventListener('change', (event) => setCriteria(event.target.value));
element('makes').addEventListener('change', (event) => { view.makes = event.target.checked; });
element('zoom-in').addEventListener('click', () => view.zoom(2));
element('zoom-out').addEventListener('click', () => view.zoom(0.5));
element('today').addEventListener('click', () => view.lookAt(
  now() - view.scale.span / 8, view.scale.span));
for (const [name, span] of Object.entries(SPANS)) {
  element(`span-${name}`).addEventListener('click', () => view.lookAt(now() - span / 8, span));
}
if (given.has('from') && given.has('to')) {
  const [from, to] = [seconds(given.get('from')), seconds(given.get('to'))];
  if (to > from) view.lookAt(from, to - from);
}
onZone(() => { view.redraw(); showWaiting(); });
// For measurements and tests.
window.climateTimeline = {view, source};
