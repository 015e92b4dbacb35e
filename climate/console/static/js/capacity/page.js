// SPDX-License-Identifier: Apache-2.0
// How full a pool is and will be, what is forecast, and what was used; each with its numbers.

import {drawBars, drawLines} from '../charts.js';
import {element, make} from '../dom.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';
import {DAY, HOUR, iso, now, seconds, words} from '../times.js';
import {onZone} from '../zones.js';

const SPANS = {day: DAY, week: 7 * DAY, month: 30 * DAY, year: 365 * DAY};
// How much of a span is in the past.
const PAST = 0.5;
const STEP_COUNT = 200;
// How many resources the picture of energy has.
const MOST_BARS = 40;

await loadTexts();

const chosen = () => {
  const span = SPANS[element('span').value];
  const start = Math.floor((now() - span * PAST) / HOUR) * HOUR;
  return {pool: element('pool').value, start: iso(start), end: iso(start + span)};
};

const sections = {
  utilisation: {
    query: () => ({...chosen(), step: `${Math.max(1, Math.ceil(
      SPANS[element('span').value] / HOUR / STEP_COUNT))}h`}),
    rows: ({utilisation}) => utilisation.pools[0]?.steps ?? [],
    columns: ['start', 'capacity', 'allocated', 'occupied', 'out_of_order', 'asleep'],
    draw: (place, rows) => drawLines(place, {
      title: t('capacity.utilisation'), lines: [
        {name: t('capacity.capacity'), colour: 'soft', step: true, dashed: true},
        {name: t('capacity.allocated'), colour: 'mine', step: true, area: true},
        {name: t('capacity.occupied'), colour: 'on-good', step: true},
        {name: t('capacity.out_of_order'), colour: 'out', step: true},
        {name: t('capacity.asleep'), colour: 'on-asleep', step: true},
      ].map((line, place_) => ({...line, points: points(rows,
        ['capacity', 'allocated', 'occupied', 'out_of_order', 'asleep'][place_])}))}),
  },
  forecast: {
    query: () => ({pool: element('pool').value}),
    rows: ({forecast}) => forecast.hours,
    columns: ['start', 'expected', 'low80', 'high80', 'low95', 'high95', 'allocated', 'missing'],
    csv: (asked) => `/capacity/forecast.csv?${new URLSearchParams({pool: asked.pool})}`,
    say: ({forecast}) => shortages(forecast),
    draw: (place, rows, {forecast}) => drawLines(place, {
      title: t('capacity.forecast'),
      bands: [bandOf('95', 'soft', rows), bandOf('80', 'mine', rows)].filter(Boolean),
      lines: [
        {name: t('capacity.capacity'), colour: 'soft', step: true, dashed: true,
          points: rows.map((row) => [seconds(row.start) * 1000, forecast.capacity])},
        {name: t('capacity.expected'), colour: 'mine', points: points(rows, 'expected')},
        {name: t('capacity.allocated'), colour: 'on-good', points: points(rows, 'allocated'),
          dashed: true}]}),
  },
};

/** Return when a forecast runs short, or may do so, in the words of the command line. */
function shortages(forecast) {
  const known = ['short_at', 'may_be_short_at'].filter((name) => forecast[name]).map(
    (name) => t(`capacity.${name}`, {at: words(seconds(forecast[name]))}));
  return known.join(' ') || t('capacity.not_short');
}

const points = (rows, name) => rows.map((row) => [seconds(row.start) * 1000, row[name]]);

function bandOf(share, colour, rows) {
  const known = rows.filter((row) => row[`low${share}`] !== null);
  return known.length ? {name: t('capacity.band', {share}), colour, points: known.map((row) => [
    seconds(row.start) * 1000, row[`low${share}`], row[`high${share}`]])} : null;
}

// What was asked last for each section; a late answer must not replace a newer one.
const latest = {};

/** Fill one section; what may not be seen is not shown. */
async function fill(name) {
  const section = element(name);
  const {query, rows, columns, draw, csv, say} = sections[name];
  const asked = latest[name] = query();
  try {
    const {body} = await call(`/${name}`, {query: asked});
    if (latest[name] !== asked) return;
    const found = rows(body);
    section.hidden = false;
    section.querySelector('.note').textContent = say ? say(body) : '';
    draw(section.querySelector('.chart'), found, body);
    section.querySelector('.numbers').replaceChildren(table(name, columns, found));
    const link = section.querySelector('a.csv');
    link.href = csv ? csv(asked) : `/rest/v1/${name}?${new URLSearchParams({...asked, format: 'csv'})}`;
  } catch (error) {
    if (latest[name] !== asked) return;
    section.hidden = error.status === 403;
    section.querySelector('.note').textContent = error.message;
  }
}

function table(name, columns, rows) {
  return make('table', {},
    make('caption', {class: 'unseen'}, t(`capacity.${name}`)),
    make('thead', {}, make('tr', {}, ...columns.map((each) => make('th', {
      scope: 'col', class: each === 'start' ? undefined : 'number'},
      t(`capacity.${each}`))))),
    make('tbody', {}, ...rows.map((row) => make('tr', {}, ...columns.map((each) => (
      each === 'start' ? make('th', {scope: 'row'}, words(seconds(row.start)))
        : make('td', {class: 'number'}, row[each] === null ? '' : String(row[each]))))))));
}

/** Draw how long each resource slept, from the table that the page came with. */
function drawEnergy() {
  const rows = [...document.querySelectorAll('#energy tbody tr')].map(({dataset}) => ({
    name: dataset.name, hours: Number(dataset.hours), kwh: Number(dataset.kwh || 0)}));
  const most = rows.filter((row) => row.hours > 0).sort((one, other) => other.hours - one.hours)
    .slice(0, MOST_BARS);
  if (!most.length) return;
  drawBars(document.querySelector('#energy .chart'), {
    title: t('capacity.energy'), names: most.map((row) => row.name), bars: [
      {name: t('energy.hours_asleep'), colour: 'on-asleep', values: most.map((row) => row.hours)},
      {name: t('energy.kwh_saved'), colour: 'mine', values: most.map((row) => row.kwh)}]});
}

const fillAll = () => Promise.all(Object.keys(sections).map(fill));

element('pool').addEventListener('change', fillAll);
element('span').addEventListener('change', () => fill('utilisation'));
onZone(fillAll);
drawEnergy();
await fillAll();
