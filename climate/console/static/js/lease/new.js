// SPDX-License-Identifier: Apache-2.0
// The form for a new lease: counts while one types, offers to click, a dry run, then the lease.

import {tell} from '../dialog.js';
import {calm, element, fill, make} from '../dom.js';
import {BadField, clearAll, showAt} from '../problems.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';
import {MomentField} from '../time_fields.js';
import {seconds, words} from '../times.js';
import {onZone} from '../zones.js';
import {showAnswer, showNoAnswer} from './answer.js';
import {triedLease} from './creation.js';
import {Hold} from './hold.js';
import {Limits, fieldsOf} from './limits.js';
import {Period} from './period.js';
import {Repetition} from './repetition.js';
import {ReservationCards} from './reservation_cards.js';
import {nextName, refusal} from './words.js';

const PAUSE_MS = 400;
const OFFERS = 5;
// The fields of the form, by the names of the fields in errors of climate-api.
const FIELDS = {name: 'name', start: 'start', earliest: 'start', end: 'end',
  duration: 'duration', repeat: 'repeat', while_free: 'while_free',
  'acquire.not_after': 'not_after', 'acquire.retries': 'retries'};

const form = element('form');
const given = new URLSearchParams(location.search);
const {body: document_} = await loadTexts(() => call('/openapi')).catch((error) => {
  element('problem').textContent = error.message;
  throw error;
});
const schemas = Object.fromEntries(Object.entries(document_.components.schemas)
  .filter(([, schema]) => schema.properties?.resource_type && !schema.properties.id)
  .map(([, schema]) => [schema.properties.resource_type.const, schema]));
const period = new Period(form);
const repetition = new Repetition(form, period);
const notAfter = new MomentField(form.not_after);
const cards = new ReservationCards(schemas, () => changed());
const limits = new Limits();
const offered = new Hold();
let counting = new AbortController();
// Whether the service refused the form as it is; its reason stays until the form changes.
let refused = false;
// Rises when the form changes, so that a late answer about what it was is noticed.
let version = 0;

/** Return the request for POST /v1/leases. */
async function request() {
  const found = {name: form.name.value, reservations: await cards.values(), ...await period.value()};
  const acquire = form.acquire.value;
  if (acquire) found.acquire = {type: acquire, ...await acquireFields(acquire)};
  return found;
}

async function acquireFields(acquire) {
  const found = {};
  const latest = acquire === 'wait' ? await notAfter.value() : null;
  if (latest) found.not_after = latest.wire;
  if (acquire === 'retries') found.retries = Number(form.retries.value);
  return found;
}

/** Show how many resources meet the form and are free then, and the choices of criteria. */
async function count() {
  counting.abort();
  counting = new AbortController();
  const {signal} = counting;
  try {
    const reservations = await cards.values();
    const {earliest, duration} = await period.search();
    // The counts of choices are only help: what is wrong with the form is in the other answer.
    cards.count(reservations, {start: earliest, duration}, signal).catch(() => {});
    const {body} = await call('/availability', {signal, query: {
      reservations: JSON.stringify(reservations), duration, earliest, limit: OFFERS}});
    if (signal.aborted) return;
    if (!refused) clearProblems();
    showAnswer(body, {takeAlternative,
      takeStart: (moment) => doing(() => period.takeStart(moment))});
    await warnOfLimit(body);
  } catch (error) {
    if (signal.aborted) return;
    showNoAnswer();
    if (!refused) showProblem(error);
  }
}

/** Warn if the request would leave the queue before its resources are free. */
async function warnOfLimit({offers}) {
  const limit = form.acquire.value === 'wait' ? await notAfter.value() : null;
  if (!limit || (offers.length && seconds(offers[0].start) <= seconds(limit.moment))) return;
  showAt(form.not_after, offers.length
    ? t('new.too_late', {start: words(seconds(offers[0].start))}) : t('new.never'));
}

/** Show an error at the field that it is about, or else at the button. */
function showProblem(error) {
  clearProblems();
  const input = error.input ?? form.elements.namedItem(FIELDS[error.details?.field] ?? '')
    ?? cards.inputOf(error) ?? inputOfLimit(error);
  if (input) showAt(input, error.message.replace(`${error.details?.field}: `, ''));
  else element('problem').textContent = error.message;
  return input;
}

/** Return the input that a broken limit is about; undefined if there is none. */
const inputOfLimit = ({details = {}}) => fieldsOf(details, Boolean(form.end.value)).map((name) => (
  FIELDS[name] ? form.elements.namedItem(name) : cards.inputNamed(name))).find(Boolean);

function clearProblems() {
  clearAll(form);
  element('problem').textContent = '';
}

/** Hold the first time at which it fits, so that there is time to decide. */
async function hold() {
  const query = {reservations: await cards.values(), ...await period.search()};
  tell(t(await offered.first(query) ? 'offers.held' : 'offers.not_held'));
}

function takeAlternative(each) {
  if (each.kind === 'shorter') period.takeDuration(each.duration);
  if (each.kind === 'later') doing(() => period.takeStart(each.start));
  if (each.kind === 'fewer') cards.setCounts(each.counts);
  changed();
}

/** Try the lease, or the series, without making it. */
async function tried() {
  return repetition.isAsked ? repetition.tried(await cards.values())
    : triedLease(await request(), (lease) => limits.openingOf(cards.taken(), lease));
}

/** Try the form, and show what it would create. */
async function check() {
  const asked = version;
  const found = await tried().catch((error) => { if (asked === version) throw error; });
  if (asked !== version) return;
  clearProblems();
  fill(element('result'), ...found.nodes,
    make('button', {type: 'button', class: 'main', id: 'create',
      onclick: () => doing(() => create(found))}, found.yes));
  element('check').classList.remove('main');
  element('create').focus();
}

/** Create what was tried. Without an answer it may be there, so the same button asks for it again. */
async function create(trial) {
  try {
    location.assign(await trial.create());
  } catch (error) {
    if (!error.isOutage) throw error;
    element('problem').textContent = `${error.message} ${trial.again}`;
  }
}

/** Do something; if it is refused, say why at the field or at the button. */
async function doing(action) {
  form.setAttribute('aria-busy', 'true');
  try {
    await action();
  } catch (error) {
    refused = true;
    element('result').replaceChildren(...refusal(error));
    showProblem(error)?.focus();
  }
  form.removeAttribute('aria-busy');
}

const countSoon = calm(count, PAUSE_MS);
const showLimits = () => limits.show(cards.taken(), Boolean(form.acquire.value));

/** What was checked is not what the form says any more. */
function changed() {
  refused = false;
  version += 1;
  element('result').replaceChildren();
  element('check').classList.add('main');
  for (const part of document.querySelectorAll('[data-acquire]')) {
    part.hidden = part.dataset.acquire !== form.acquire.value;
  }
  repetition.show();
  showLimits();
  countSoon();
}

/** Begin with what was dragged in the timeline. */
function beginWithDragged() {
  const [first, last] = ['start', 'end'].map((key) => seconds(given.get(key)));
  period.takeSpan(first, last);
  const number = given.get('count') ?? '1';
  const fields = cards.add(given.get('type') ?? cards.firstType(given.get('pool')), {
    min: number, max: number, amount: number, resource_properties: given.get('criteria')});
  if (given.has('resources')) fields.chooseNames(given.get('resources').split(',').filter(Boolean));
}

/** Begin with the values of the lease that is repeated. */
function beginWithRepeated({name, duration, while_free: step, reservations}) {
  form.name.value = nextName(name);
  period.takeDuration(duration);
  if (step) period.takeStep(step);
  for (const values of reservations) cards.add(values.resource_type, values);
}

function begin() {
  const repeated = JSON.parse(form.dataset.like);
  if (repeated) beginWithRepeated(repeated);
  else beginWithDragged();
  element('add').addEventListener('click', () => {
    cards.add(cards.firstType());
    changed();
  });
  form.addEventListener('input', changed);
  onZone(changed);
  element('hold').addEventListener('click', () => doing(hold));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    doing(check);
  });
  // Without its listener, the button would load the page again, and lose what was typed.
  element('check').disabled = false;
  limits.load().then(showLimits);
  changed();
}

begin();
