// SPDX-License-Identifier: Apache-2.0
// What an operator can do with one resource of a pool, or with several at once.

import {ask, askFor, tell} from '../dialog.js';
import {element} from '../dom.js';
import {clearAll, showIn} from '../problems.js';
import {call} from '../rest.js';
import {t} from '../texts.js';

const table = element('resources');
const {pool} = table.dataset;
const path = (row) => `/resources/${pool}/${row.dataset.resource}`;
const put = (row, body) => call(path(row), {method: 'PUT', body});
const nameOf = (rows) => (rows.length === 1 ? rows[0].dataset.name
  : t('operator.several', {count: rows.length}));

/** Ask for the reason why resources are out of service; null if the user leaves it. */
async function reasonOf(rows) {
  const asked = await askFor(t('operator.out_of_service_question', {name: nameOf(rows)}), [
    {name: 'reason', label: t('operator.reason'), required: true}],
  {yes: t('operator.out_of_service')});
  return asked && asked.reason.trim();
}

/** Ask whether to withdraw a resource, unless it is refused, as it is when a lease has it. */
async function withdraw([row]) {
  await call(path(row), {method: 'DELETE', query: {dry_run: 'true'}});
  const {name, properties} = row.dataset;
  const key = properties.trim() ? 'operator.withdraw_question_properties' : 'operator.withdraw_question';
  const sure = await ask(t(key, {name, properties: properties.trim()}),
    {yes: t('operator.withdraw'), danger: true});
  return sure ? () => call(path(row), {method: 'DELETE'}) : null;
}

async function property([row]) {
  const {name} = row.dataset;
  const asked = await askFor(t('operator.property_question', {name}), [
    {name: 'property', label: t('operator.property'), required: true},
    {name: 'value', label: t('operator.value')}], {yes: t('dialog.save')});
  return asked && (() => put(row, {properties: {[asked.property.trim()]: asked.value || null}}));
}

// Each action asks, and returns what is to be done with each row; null if the user leaves it.
const actions = {
  out_of_service: async (rows) => {
    const reason = await reasonOf(rows);
    return reason ? (row) => put(row, {out_of_order: reason}) : null;
  },
  in_order: () => (row) => put(row, {out_of_order: null}),
  take_out: async (rows) => {
    const sure = await ask(t('operator.take_out_question', {name: nameOf(rows)}),
      {yes: t('operator.take_out')});
    return sure ? (row) => put(row, {reservable: false}) : null;
  },
  put_back: () => (row) => put(row, {reservable: true}),
  property,
  withdraw,
};

/** Do something with rows one after the other; return the number of refusals, shown in the rows. */
async function doEach(rows, action) {
  let refused = 0;
  for (const row of rows) {
    try {
      await action(row);
    } catch (error) {
      refused += 1;
      showIn(row.lastElementChild, error.message);
    }
  }
  return refused;
}

async function act(name, rows) {
  rows.forEach(clearAll);
  try {
    const action = await actions[name](rows);
    if (!action) return;
    table.setAttribute('aria-busy', 'true');
    const refused = await doEach(rows, action);
    if (refused === 0) location.reload();
    else tell(t('operator.refused', {refused, count: rows.length}));
  } catch (error) {
    showIn(rows[0].lastElementChild, error.message);
  }
  table.removeAttribute('aria-busy');
}

const chosen = () => [...table.querySelectorAll('[name=chosen]:checked')]
  .map((box) => box.closest('tr'));

/** Say how many rows are selected. */
function showChosen() {
  const count = chosen().length;
  element('selected').textContent = count ? t('operator.count_selected', {count})
    : t('operator.none_selected');
  for (const button of document.querySelectorAll('[data-many]')) button.disabled = !count;
}

/**
 * Listen to the table and the toolbar above it.
 *
 * @param {Function} maintain - called with the names of the rows that are to get maintenance.
 */
export function listen(maintain) {
  table.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-action]');
    if (button) act(button.dataset.action, [button.closest('tr')]);
  });
  table.addEventListener('change', (event) => {
    if (event.target.id === 'all') {
      for (const box of table.querySelectorAll('[name=chosen]')) box.checked = event.target.checked;
    }
    showChosen();
  });
  for (const button of document.querySelectorAll('[data-many]')) {
    button.addEventListener('click', () => {
      const rows = chosen();
      if (button.dataset.many === 'maintain') maintain(rows.map((row) => row.dataset.name));
      else act(button.dataset.many, rows);
    });
  }
  // A browser may keep the marks of a page that is loaded again.
  showChosen();
}
