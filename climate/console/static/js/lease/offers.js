// SPDX-License-Identifier: Apache-2.0
// The offers that the project holds: take one, or drop it.

import {element} from '../dom.js';
import {call} from '../rest.js';
import {loadTexts} from '../texts.js';

await loadTexts();

const actions = {
  take: async (id, form) => {
    // An offer can be taken once, so a second try makes no second lease.
    const {body} = await call('/leases', {
      method: 'POST', body: {name: form.name.value, offer: id}, headers: {'Idempotency-Key': id}});
    location.assign(`/leases/${body.lease.id}`);
  },
  drop: async (id) => {
    await call(`/offers/${id}`, {method: 'DELETE'});
    location.reload();
  },
};

element('offers')?.addEventListener('submit', async (event) => {
  event.preventDefault();
  element('problem').textContent = '';
  const form = event.target;
  try {
    // "name" is a property of every form, too.
    await actions[form.dataset.action](form.closest('tr').dataset.offer,
      {name: form.elements.namedItem('name')});
  } catch (error) {
    element('problem').textContent = error.message;
  }
});
