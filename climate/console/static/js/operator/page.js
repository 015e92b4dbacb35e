// SPDX-License-Identifier: Apache-2.0
// What an operator can do with the resources of a pool.

import {ask, askFor} from '../dialog.js';
import {element, make} from '../dom.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';
import {fromLocal, iso} from '../times.js';

await loadTexts();
const {pool} = element('resources').dataset;

async function doing(action) {
  try {
    await action();
    location.reload();
  } catch (error) {
    element('problem').textContent = error.message;
  }
}

const put = (id, body) => call(`/resources/${pool}/${id}`, {method: 'PUT', body});

const actions = {
  take_out: async (id, name) => {
    const sure = await ask(t('operator.take_out_question', {name}), {yes: t('operator.take_out')});
    if (sure) await doing(() => put(id, {reservable: false}));
  },
  put_back: (id) => doing(() => put(id, {reservable: true})),
  in_order: (id) => doing(() => put(id, {out_of_order: null})),
  property: async (id, name) => {
    const asked = await askFor(t('operator.property_question', {name}), [
      {name: 'property', label: t('operator.property'), required: true},
      {name: 'value', label: t('operator.value')}], {yes: t('dialog.save')});
    if (asked) await doing(() => put(id, {properties: {[asked.property.trim()]: asked.value || null}}));
  },
  withdraw: async (id, name) => {
    const sure = await ask(t('operator.withdraw_question', {name}),
      {yes: t('operator.withdraw'), danger: true});
    if (sure) await doing(() => call(`/resources/${pool}/${id}`, {method: 'DELETE'}));
  },
};

element('resources').addEventListener('click', (event) => {
  const button = event.target.closest('button[data-action]');
  if (!button) return;
  const {resource, name} = button.closest('tr').dataset;
  actions[button.dataset.action](resource, name);
});
const form = element('maintenance');
let previewed = null;

/** Return the moment of a field as ISO text. */
const momentOf = (field) => iso(fromLocal(field.value, (text) => t('zone.skipped', {text})));

/** Return the maintenance that the form describes, as POST /v1/maintenances takes it. */
function maintenance() {
  const found = {pool, reason: form.reason.value, running: form.running.value,
    resources: form.resources.value.split(',').map((each) => each.trim()).filter(Boolean),
    start: momentOf(form.start), end: momentOf(form.end)};
  if (form.rrule.value.trim()) found.rrule = form.rrule.value.trim();
  return found;
}

/** Show which leases would move, stay or end; then the button plans the maintenance. */
async function preview() {
  const body = maintenance();
  const {body: answer} = await call('/maintenances', {
    method: 'POST', body, query: {dry_run: 'true'}});
  const {leases} = answer.maintenance;
  element('preview').replaceChildren(leases.length ? make('ul', {}, ...leases.map((each) => make(
    'li', {}, make('a', {href: `/leases/${each.lease_id}`}, each.lease_id),
    ` ${t(`maintenance.what.${each.what}`)}`, each.why ? `: ${each.why}` : null)))
    : make('p', {}, t('maintenance.nobody_in_the_way')));
  previewed = body;
  element('preview-button').textContent = t('maintenance.plan');
}

form.addEventListener('input', () => {
  previewed = null;
  element('preview').replaceChildren();
  element('preview-button').textContent = t('maintenance.preview');
});
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  element('problem').textContent = '';
  if (previewed) await doing(() => call('/maintenances', {method: 'POST', body: previewed}));
  else await preview().catch((error) => { element('problem').textContent = error.message; });
});
element('maintenances').addEventListener('click', async (event) => {
  const row = event.target.closest('button[data-action]')?.closest('tr');
  if (!row) return;
  const sure = await ask(t('maintenance.delete_question'),
    {yes: t('maintenance.delete'), danger: true});
  if (sure) {
    await doing(() => call(`/maintenances/${row.dataset.maintenance}`, {method: 'DELETE'}));
  }
});
element('enrol').addEventListener('submit', (event) => {
  event.preventDefault();
  doing(() => call(`/resources/${pool}`, {
    method: 'POST', body: {name: event.target.name.value}}));
});
