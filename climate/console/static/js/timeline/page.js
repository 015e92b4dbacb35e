// SPDX-License-Identifier: Apache-2.0
// The page of the timeline: controls above the picture, and what happens on a click.

import {translate} from '../criteria.js';
import {ask} from '../dialog.js';
import {moveEnd} from '../lease/changes.js';
import {loadTexts, t} from '../texts.js';
import {DAY, HOUR, YEAR, iso, now, words} from '../times.js';
import {Source} from './source.js';
import {View} from './view.js';

const SPANS = {hour: HOUR, day: DAY, week: 7 * DAY, month: 30 * DAY, year: YEAR};

await loadTexts();
const element = (id) => document.getElementById(id);
const filter = {pool: element('pool').value, criteria: ''};
let model = null;

const source = new Source((found) => {
  model = found;
  offerGroups(found.properties);
  showRows();
  element('timeline').dataset.bars = found.barCount;
}, (problem) => say('problem', problem?.message ?? ''));

const view = new View(element('timeline'), {
  onSight: (scale) => source.show(scale, {...filter}),
  onOpen: (bar) => location.assign(`/leases/${bar.lease.id}`),
  onNew: ({start, end, lanes}) => location.assign(`/leases/new?${new URLSearchParams({
    pool: filter.pool, start: iso(start), end: iso(end), count: Math.max(1, lanes.length),
    resources: lanes.map((lane) => lane.resource.name ?? '').filter(Boolean).join(',')})}`),
  onMoveEnd: moveTheEnd,
  onSay: (text) => say('said', text),
});

/** Change the end of a lease whose bar was dragged, if the user means it. */
async function moveTheEnd(bar, moment) {
  const key = moment > bar.end ? 'timeline.extend_question' : 'timeline.shorten_question';
  const sure = await ask(t(key, {name: bar.lease.name, end: words(moment)}),
    {yes: t('timeline.move_end')});
  if (!sure) return;
  try {
    await moveEnd(bar.lease.id, moment);
    source.refresh();
  } catch (error) {
    say('problem', error.message);
  }
}

function say(id, text) { element(id).textContent = text; }

function showRows() {
  if (model) view.setRows(model.rows(element('group').value, element('search').value));
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
// For measurements and tests.
window.climateTimeline = {view, source};
