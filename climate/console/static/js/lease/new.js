// SPDX-License-Identifier: Apache-2.0
// The form for a new lease: counts while one types, offers to click, a dry run, then the lease.

import {tell} from '../dialog.js';
import {calm, element, fill, make} from '../dom.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';
import {duration as inWords, fromLocal, iso, local, now, seconds, words} from '../times.js';
import {onZone} from '../zones.js';
import {BadField, ReservationFields} from './fields.js';
import {priceWords, refusal} from './words.js';

const PAUSE_MS = 400;
const OFFERS = 5;

await loadTexts();
const given = new URLSearchParams(location.search);
const {body: document_} = await call('/openapi');
const schemas = Object.fromEntries(Object.entries(document_.components.schemas)
  .filter(([, schema]) => schema.properties?.resource_type && !schema.properties.id)
  .map(([, schema]) => [schema.properties.resource_type.const, schema]));
const reservations = [];
let checked = null;

/** Add fields for one more reservation. */
function addReservation(type, values) {
  const select = make('select', {'aria-label': t('new.type')}, ...Object.keys(schemas).sort()
    .map((each) => make('option', {value: each}, typeWord(each))));
  select.value = type;
  const place = make('div');
  const entry = {};
  const refill = (some) => {
    entry.fields = new ReservationFields(select.value, schemas[select.value], some);
    place.replaceChildren(entry.fields.node);
  };
  refill(values);
  select.addEventListener('change', () => { refill({}); changed(); });
  const remove = make('button', {type: 'button', class: 'quiet', onclick: () => {
    reservations.splice(reservations.indexOf(entry), 1);
    card.remove();
    changed();
  }}, t('new.remove'));
  const card = make('fieldset', {class: 'card'}, make('legend', {}, t('new.what')),
    make('div', {class: 'head'}, select, reservations.length ? remove : null), place);
  reservations.push(entry);
  element('reservations').append(card);
}

function typeWord(type) {
  const found = t(`type.${type}`);
  return found === `type.${type}` ? type : found;
}

function countWords({count, resource_type: type}) {
  const one = t(`one.${type}`);
  return `${count} × ${count === 1 && one !== `one.${type}` ? one : typeWord(type)}`;
}

/** Return the request for POST /v1/leases. */
async function request() {
  const form = element('form');
  const found = {name: form.name.value, reservations: await wanted(), duration: form.duration.value};
  if (form.start.value) found.start = momentOf(form.start);
  const acquire = form.acquire.value;
  if (acquire) found.acquire = {type: acquire, ...acquireFields(acquire, form)};
  return found;
}

/** Return the moment of a field as ISO text. */
const momentOf = (field) => iso(fromLocal(field.value, (text) => t('zone.skipped', {text})));

function acquireFields(acquire, form) {
  const found = {};
  if (acquire === 'wait' && form.not_after.value) found.not_after = momentOf(form.not_after);
  if (acquire === 'retries') found.retries = Number(form.retries.value);
  return found;
}

const wanted = () => Promise.all(reservations.map((each) => each.fields.value()));

/** Show how many resources meet this and are free then. */
async function count() {
  const form = element('form');
  try {
    const [asked, length] = [JSON.stringify(await wanted()), form.duration.value];
    const earliest = form.start.value ? momentOf(form.start) : undefined;
    const {body} = await call('/availability', {
      query: {reservations: asked, duration: length, earliest, limit: OFFERS}});
    showCounts(body.considered);
    showOffers(body);
    say('problem', '');
  } catch (error) {
    element('counts').replaceChildren();
    element('offers').replaceChildren();
    if (element('form').checkValidity()) say('problem', error.message);
  }
}

function showCounts(considered) {
  element('counts').replaceChildren(...considered.map((each) => make('li', {}, t('new.counts', {
    type: typeWord(each.resource_type), enrolled: each.enrolled, matching: each.matching,
    free: each.free_at_earliest}), each.criteria.length ? make('ul', {}, ...each.criteria.map((one) => make(
    'li', {}, t('new.met_by', {criterion: one.criterion, count: one.met_by})))) : null)));
}

function showOffers({offers, reasons, alternatives}) {
  const rows = offers.map((offer) => make('li', {}, make('button', {
    type: 'button', class: 'offer', onclick: () => takeStart(offer.start)},
  make('strong', {}, startWords(offer.start)), ` – ${words(seconds(offer.end))} `,
  offer.reservations.map((each) => countWords(each)).join(', '),
  offer.price ? make('span', {class: 'price'}, priceWords(offer.price)) : null)));
  const others = alternatives.map((each) => make('li', {}, make('button', {
    type: 'button', class: 'offer', onclick: () => takeAlternative(each)}, alternativeWords(each))));
  element('hold').hidden = !offers.length;
  element('offers').replaceChildren(...reasons.map((each) => make('li', {}, each)), ...rows,
    ...others);
}

/** Hold the first time at which it fits, so that there is time to decide. */
async function hold() {
  const form = element('form');
  const body = {reservations: await wanted(), duration: form.duration.value, hold: 1, limit: 1};
  if (form.start.value) body.earliest = momentOf(form.start);
  const {body: {offers}} = await call('/availability', {method: 'POST', body});
  tell(t(offers.some((each) => each.id) ? 'offers.held' : 'offers.not_held'));
}

const startWords = (start) => (seconds(start) <= now() + 90 ? t('new.now') : words(seconds(start)));

function takeStart(start) {
  element('form').start.value = seconds(start) <= now() + 90 ? '' : local(seconds(start) + 59);
  changed();
}

function alternativeWords(each) {
  if (each.kind === 'shorter') return t('new.shorter', {length: inWords(each.duration)});
  if (each.kind === 'later') return t('new.later', {start: words(seconds(each.start))});
  return t('new.fewer', {counts: each.counts.join(', ')});
}

function takeAlternative(each) {
  if (each.kind === 'shorter') element('form').duration.value = `${each.duration}s`;
  if (each.kind === 'later') element('form').start.value = local(seconds(each.start) + 59);
  if (each.kind === 'fewer') {
    each.counts.forEach((number, place) => {
      const {inputs} = reservations[place].fields;
      for (const key of ['min', 'amount']) {
        if (inputs.has(key)) inputs.get(key).input.value = number;
      }
    });
  }
  changed();
}

/** Try the lease without making it, and show what it would be. */
async function check() {
  const body = await request();
  const {body: answer} = await call('/leases', {
    method: 'POST', body, query: {dry_run: 'true'}});
  checked = {body, key: crypto.randomUUID()};
  const {lease} = answer;
  fill(element('result'),
    make('p', {}, lease.status === 'in_progress' ? t('new.would_wait') : t('new.fits', {
      start: words(seconds(lease.start)), end: words(seconds(lease.end))})),
    lease.price ? make('p', {class: 'price'}, priceWords(lease.price)) : null,
    make('button', {type: 'submit', class: 'main', id: 'create'}, t('new.create')));
  element('create').focus();
}

async function create() {
  // A second try of the same request makes no second lease.
  const {body: answer} = await call('/leases', {
    method: 'POST', body: checked.body, headers: {'Idempotency-Key': checked.key}});
  location.assign(`/leases/${answer.lease.id}`);
}

async function submitted(event) {
  event.preventDefault();
  element('form').setAttribute('aria-busy', 'true');
  say('problem', '');
  try {
    await (checked ? create() : check());
  } catch (error) {
    checked = null;
    element('result').replaceChildren();
    if (!(error instanceof BadField)) element('result').replaceChildren(...refusal(error));
    say('problem', error.message);
  }
  element('form').removeAttribute('aria-busy');
}

function say(id, text) { element(id).textContent = text; }

const countSoon = calm(count, PAUSE_MS);

/** What was checked is not what the form says any more. */
function changed() {
  checked = null;
  element('result').replaceChildren(
    make('button', {type: 'submit', class: 'main', id: 'check'}, t('new.check')));
  for (const part of document.querySelectorAll('[data-acquire]')) {
    part.hidden = part.dataset.acquire !== element('form').acquire.value;
  }
  countSoon();
}

function begin() {
  const form = element('form');
  if (given.get('start') && seconds(given.get('start')) > now()) {
    form.start.value = local(seconds(given.get('start')));
  }
  if (given.get('start') && given.get('end')) {
    form.duration.value = inWords(seconds(given.get('end')) - seconds(given.get('start')))
      .replaceAll(' ', '');
  }
  const number = given.get('count') ?? '1';
  addReservation(given.get('type') ?? (schemas['physical:host'] ? 'physical:host'
    : Object.keys(schemas)[0]), {min: number, max: number, amount: number});
  element('add').addEventListener('click', () => {
    addReservation(Object.keys(schemas)[0], {});
    changed();
  });
  form.addEventListener('input', changed);
  onZone(changed);
  element('hold').addEventListener('click', () => hold().catch((error) => say('problem',
    error.message)));
  form.addEventListener('submit', submitted);
  changed();
}

begin();
