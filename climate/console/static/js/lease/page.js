// SPDX-License-Identifier: Apache-2.0
// The page of a lease: its actions, and its status as it changes.

import {tell} from '../dialog.js';
import {element} from '../dom.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';
import {seconds} from '../times.js';
import {duration} from '../translations.js';
import {change, endNow, moveEnd, remove, swap} from './changes.js';

const LOOK_MS = 2500;

await loadTexts();
const {lease: id, etag: shownEtag, name} = element('lease').dataset;

/**
 * Do something, and load the page again; if it is refused, say why and change nothing.
 *
 * @param {Function} action - returns null if the user does not go on.
 */
async function doing(action, after = () => location.reload()) {
  element('lease').setAttribute('aria-busy', 'true');
  try {
    if (await action() === null) element('lease').removeAttribute('aria-busy');
    else after();
  } catch (error) {
    element('problem').textContent = error.message;
    element('lease').removeAttribute('aria-busy');
  }
}

const actions = {
  extend: (form) => doing(async () => {
    const {seconds: by, problem} = await duration(form.by.value);
    if (problem) throw new Error(problem);
    return moveEnd(id, seconds(element('lease').dataset.end) + by, shownEtag);
  }),
  rename: (form) => doing(() => change(id, {name: form.name.value}, shownEtag)),
  resize: (form) => doing(() => change(id, {reservations: [{
    id: form.dataset.reservation,
    ...Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, Number(value)]))}]},
  shownEtag, {question: t('lease.resize_question', {name}), yes: t('lease.resize')})),
  swap: (form) => doing(() => {
    const {value: resource, dataset: {reservation}} = form.resource.selectedOptions[0];
    return swap(id, {resource, reservation}, shownEtag, {
      question: t('lease.swap_question', {resource}), yes: t('lease.swap')});
  }),
  end: () => doing(() => endNow(id, shownEtag, {
    question: t('lease.end_question', {name}), yes: t('lease.end'), always: true})),
  remove: () => doing(() => remove(id, shownEtag, {
    question: t('lease.remove_question', {name}), yes: t('lease.remove'), always: true}),
  () => location.assign('/leases')),
};

for (const form of document.querySelectorAll('form[data-action]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    actions[form.dataset.action](form);
  });
}
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    tell(t('lease.copied'));
  });
}

/** Return whether the user types, or is asked something. */
const isBusy = () => Boolean(document.activeElement?.matches('input, select')
  || document.querySelector('dialog[open]'));

/** Load the page again when the lease has changed, unless the user is busy. */
async function look() {
  try {
    const {etag} = await call(`/leases/${id}`);
    if (etag && etag !== shownEtag && !isBusy()) {
      location.reload();
      return;
    }
  } catch (error) {
    tell(error.message);
  }
  setTimeout(look, LOOK_MS);
}

setTimeout(look, LOOK_MS);
