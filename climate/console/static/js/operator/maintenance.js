// SPDX-License-Identifier: Apache-2.0
// Maintenance of resources: its preview, its plan and its deletion.

import {ask} from '../dialog.js';
import {element, make} from '../dom.js';
import {BadField, clearAll, showIn, showRefusal} from '../problems.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {MomentField} from '../time_fields.js';
import {criteria} from '../translations.js';

const form = element('maintenance');
let previewed = null;
// Rises when the form changes, so that a late answer about what it was is noticed.
let version = 0;
// Whether the maintenance is on its way; a second click must not plan it twice.
let planning = false;
const start = new MomentField(form.start);
const end = new MomentField(form.end, start);

/** Return the resources of the form by their names or their criteria. */
async function chosen() {
  const names = form.resources.value.split(',').map((each) => each.trim()).filter(Boolean);
  const text = form.elements.criteria.value.trim();
  if (!names.length === !text) throw new BadField(t('maintenance.name_or_criteria'), form.resources);
  if (names.length) return {resources: names};
  const found = await criteria(text);
  if (found.problem) throw new BadField(found.problem, form.elements.criteria);
  return {criteria: found.criteria};
}

/** Return the maintenance that the form describes, as POST /v1/maintenances takes it. */
async function described() {
  const {pool} = element('resources').dataset;
  const body = {pool, reason: form.reason.value, running: form.running.value,
    ...await chosen(), start: (await start.value()).wire, end: (await end.value()).wire};
  if (form.rrule.value.trim()) body.rrule = form.rrule.value.trim();
  return body;
}

const item = (lease) => make('li', {},
  make('a', {href: `/leases/${lease.lease_id}`}, lease.lease_name || lease.lease_id),
  ` (${t('maintenance.owner', {
    project: lease.project_name ?? lease.project_id, user: lease.user_name ?? lease.user_id})})`,
  `: ${t(`maintenance.what.${lease.what}`)}`, lease.why ? `. ${lease.why}` : null);

/** Try the maintenance without planning it. */
async function tried() {
  const body = await described();
  const answer = await call('/maintenances', {method: 'POST', body, query: {dry_run: 'true'}});
  return {body, maintenance: answer.body.maintenance};
}

/** Show which leases would move, stay or end; then the button plans the maintenance. */
async function preview() {
  const asked = version;
  const found = await tried().catch((error) => { if (asked === version) throw error; });
  if (asked !== version) return;
  const {body, maintenance} = found;
  const {leases, resources} = maintenance;
  element('preview').replaceChildren(
    make('p', {}, t('maintenance.hits', {count: resources.length, leases: leases.length})),
    leases.length ? make('ul', {}, ...leases.map(item))
      : make('p', {}, t('maintenance.nobody_in_the_way')));
  previewed = body;
  element('preview-button').textContent = t('maintenance.plan');
}

function forget() {
  version += 1;
  previewed = null;
  element('preview').replaceChildren();
  element('preview-button').textContent = t('maintenance.preview');
}

async function plan() {
  planning = true;
  try {
    await call('/maintenances', {method: 'POST', body: previewed});
    location.reload();
  } catch (error) {
    planning = false;
    if (!error.isOutage) throw error;
    // It may be planned, so a second click must not plan it twice.
    forget();
    throw new BadField(`${error.message} ${t('maintenance.perhaps')}`);
  }
}

async function submit() {
  if (planning) return;
  clearAll(form);
  try {
    await (previewed ? plan() : preview());
  } catch (error) {
    showRefusal(form, error);
  }
}

async function remove(row) {
  clearAll(row);
  const sure = await ask(t('maintenance.delete_question'),
    {yes: t('maintenance.delete'), danger: true});
  if (!sure) return;
  try {
    await call(`/maintenances/${row.dataset.maintenance}`, {method: 'DELETE'});
    location.reload();
  } catch (error) {
    showIn(row.lastElementChild, error.message);
  }
}

/** Write the names of resources into the form, and go there. */
export function maintain(names) {
  form.resources.value = names.join(', ');
  form.elements.criteria.value = '';
  forget();
  form.scrollIntoView();
  form.start.focus();
}

/** Listen to the form and the table below it. */
export function listen() {
  form.addEventListener('input', forget);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  element('maintenances').addEventListener('click', (event) => {
    const row = event.target.closest('button[data-action]')?.closest('tr');
    if (row) remove(row);
  });
}
