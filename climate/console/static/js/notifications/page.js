// SPDX-License-Identifier: Apache-2.0
// Subscriptions to notifications: subscribe, test, renew the secret, switch off, unsubscribe.

import {ask, showSecret, tell} from '../dialog.js';
import {element} from '../dom.js';
import {clearAll, showIn, showRefusal} from '../problems.js';
import {call} from '../rest.js';
import {loadTexts, t} from '../texts.js';
import {subscribed} from './subscribing.js';

await loadTexts();

/** Do something; if it is refused, say why at the field, or beside the button. */
async function doing(button, action) {
  const form = button.closest('form');
  const part = form ?? button.closest('td');
  clearAll(part);
  button.setAttribute('aria-busy', 'true');
  try {
    await action();
  } catch (error) {
    if (form) showRefusal(form, error);
    else showIn(part, error.message);
  }
  button.removeAttribute('aria-busy');
}

const reload = () => location.reload();
const put = (id, body) => call(`/subscriptions/${id}`, {method: 'PUT', body});

/** Show the secret of a subscription, which no other answer has; then load the page again. */
async function reveal({calendar_url: address, secret}) {
  if (address) await showSecret(t('secret.calendar'), t('secret.calendar_help'), address);
  else if (secret) await showSecret(t('secret.webhook'), t('secret.webhook_help'), secret);
  reload();
}

const actions = {
  test: async (id) => {
    await call(`/subscriptions/${id}/test`, {method: 'POST'});
    tell(t('notifications.tested'));
  },
  enable: async (id) => { await put(id, {enabled: true}); reload(); },
  disable: async (id) => { await put(id, {enabled: false}); reload(); },
  renew: async (id, {called, transport}) => {
    const sure = await ask(t(`notifications.renew_question.${transport}`, {called}),
      {yes: t(`notifications.renew.${transport}`), danger: true});
    if (!sure) return;
    const {body} = await put(id, {renew_secret: true});
    await reveal(body.subscription);
  },
  unsubscribe: async (id, {called}) => {
    const sure = await ask(t('notifications.unsubscribe_question', {called}),
      {yes: t('notifications.unsubscribe'), danger: true});
    if (!sure) return;
    await call(`/subscriptions/${id}`, {method: 'DELETE'});
    reload();
  },
};

element('subscriptions').addEventListener('click', (event) => {
  const button = event.target.closest('button[data-action]');
  if (!button) return;
  const {dataset} = button.closest('tr');
  doing(button, () => actions[button.dataset.action](dataset.subscription, dataset));
});

const reminders = (form) => form.elements.before_end.value.split(',')
  .map((each) => each.trim()).filter(Boolean);

/** Subscribe with what a form has. */
function subscribing(form, more) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    doing(form.querySelector('button'), async () => reveal(await subscribed({
      scope: form.elements.scope.value, before_end: reminders(form), ...more()})));
  });
}

const form = element('subscribe');
const PLACEHOLDERS = {mail: 'ann@example.org', webhook: 'https://example.org/hook'};
form.elements.transport.addEventListener('change', () => {
  form.elements.address.placeholder = PLACEHOLDERS[form.elements.transport.value];
});
subscribing(form, () => ({
  transport: form.elements.transport.value, address: form.elements.address.value,
  events: [...form.querySelectorAll('[name=events]:checked')].map((each) => each.value)}));
subscribing(element('calendar'), () => ({transport: 'calendar'}));
