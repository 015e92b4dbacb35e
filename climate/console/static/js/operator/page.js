// SPDX-License-Identifier: Apache-2.0
// What an operator can do with the resources of a pool.

import {ask} from '../dialog.js';
import {element} from '../dom.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';

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
  property: async (id, name) => {
    const text = prompt(t('operator.property_question', {name}));
    if (!text) return;
    const [property, ...value] = text.split('=');
    await doing(() => put(id, {properties: {[property.trim()]: value.join('=') || null}}));
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
element('enrol').addEventListener('submit', (event) => {
  event.preventDefault();
  doing(() => call(`/resources/${pool}`, {
    method: 'POST', body: {name: event.target.name.value}}));
});
