// SPDX-License-Identifier: Apache-2.0
// The page of a lease: its actions, and its status as it changes.

import {openForm, tell} from '../dialog.js';
import {element, make} from '../dom.js';
import {clearAll, showIn} from '../problems.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';
import {change, endNow, remove, swap} from './changes.js';
import {openExtension} from './extension.js';
import {cancelFollowing} from './series.js';
import {endShare, openShare} from './sharing.js';
import {openSteps} from './steps.js';
import {offerUndo, undoable} from './undo.js';

const LOOK_MS = 2500;

await loadTexts();
const {lease: id, etag: shownEtag, name} = element('lease').dataset;
const reload = () => location.reload();

/** Return a field of a form with its label. */
const field = (label, attributes) => make('label', {}, label, make('input', {
  autocomplete: 'off', required: true, ...attributes}));

/** Return the lease as it is now, and its ETag; the page may be older. */
async function current() {
  const {body, etag} = await call(`/leases/${id}`);
  return {lease: body.lease, etag};
}

/** Go on after a change, unless the user did not want it. */
const after = (answer, goOn = reload) => { if (answer !== null) goOn(); };

const actions = {
  extend: async () => {
    const {lease, etag} = await current();
    openExtension({id, end: lease.end, etag});
  },
  steps: async () => {
    const {lease, etag} = await current();
    openSteps({id, step: lease.while_free, etag});
  },
  rename: async () => {
    const {lease, etag} = await current();
    openForm({
      title: t('lease.rename'), yes: t('lease.rename'),
      content: [field(t('leases.name'), {name: 'name', maxlength: 80, value: lease.name})],
      act: (form) => undoable(id, {name: lease.name},
        change(id, {name: form.elements.name.value}, etag)), done: reload});
  },
  resize: async ({dataset}) => {
    const {lease, etag} = await current();
    const reservation = lease.reservations.find((each) => each.id === dataset.reservation);
    openForm({
      title: t('lease.resize'), yes: t('lease.resize'), done: reload,
      content: [make('p', {}, t('lease.resize_help')), ...dataset.sizes.split(' ').map(
        (key) => field(`${t(`field.${key}`)} (${t(`type.${reservation.resource_type}`)})`, {
          name: key, type: 'number', min: 1, value: reservation[key]}))],
      act: (form) => {
        const sizes = [...new FormData(form)].map(([key, value]) => [key, Number(value)]);
        return change(id, {reservations: [{id: reservation.id, ...Object.fromEntries(sizes)}]},
          etag, {question: t('lease.resize_question', {name}), yes: t('lease.resize')});
      }});
  },
  swap: async ({dataset: {resource, reservation, called}}) => after(await swap(
    id, {resource, reservation}, null, {question: t('lease.swap_question', {resource: called}),
      yes: t('lease.swap'), always: true})),
  share: () => openShare(id),
  unshare: async ({dataset: {share, receiver}}) => after(await endShare(id, share, {
    question: t('share.withdraw_question', {receiver}), yes: t('share.withdraw')})),
  leave: async ({dataset: {share}}) => after(await endShare(id, share, {
    question: t('share.leave_question', {name}), yes: t('share.leave')}),
  () => location.assign('/leases')),
  following: async ({dataset: {series, number}}) => after(
    await cancelFollowing(series, Number(number)),
    () => location.assign(document.querySelector('#series a').href)),
  end: async () => after(await endNow(id, shownEtag, {
    question: t('lease.end_question', {name}), yes: t('lease.end'), always: true})),
  remove: async () => after(await remove(id, shownEtag, {
    question: t('lease.remove_question', {name}), yes: t('lease.remove'), always: true}),
  () => location.assign('/leases')),
};

for (const button of document.querySelectorAll('button[data-action]')) {
  button.addEventListener('click', async () => {
    clearAll(button.parentElement);
    button.setAttribute('aria-busy', 'true');
    try {
      await actions[button.dataset.action](button);
    } catch (error) {
      showIn(button.parentElement, error.message);
    }
    button.removeAttribute('aria-busy');
  });
}
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    tell(t('lease.copied'));
  });
}

/** Return whether the user is asked something. */
const isBusy = () => Boolean(document.querySelector('dialog[open], [aria-busy=true]'));

// Why the last poll had no answer.
let reported = '';

/** Load the page again when the lease has changed, unless the user is busy. */
async function look() {
  try {
    // A page that nobody sees asks nothing.
    const {etag} = document.hidden ? {} : await call(`/leases/${id}`);
    if (etag && etag !== shownEtag && !isBusy()) {
      location.reload();
      return;
    }
    if (reported && element('messages').textContent === reported) tell('');
    reported = '';
  } catch (error) {
    reported = error.message;
    tell(reported);
  }
  setTimeout(look, LOOK_MS);
}

offerUndo({id, name, end: element('lease').dataset.end, etag: shownEtag});
setTimeout(look, LOOK_MS);
