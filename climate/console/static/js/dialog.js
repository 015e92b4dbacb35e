// SPDX-License-Identifier: Apache-2.0
// A plain question before anything is changed that cannot be undone.

import {make} from './dom.js';
import {clearAll, showRefusal} from './problems.js';
import {t} from './texts.js';

/**
 * Ask a question in a dialog.
 *
 * @param {string} question
 * @param {object} options - yes: the word on the button; danger: whether something is destroyed;
 *   details: an element below the question, or null.
 * @returns {Promise<boolean>}
 */
export const ask = async (question, options) => await askFor(question, [], options) !== null;

/**
 * Ask for texts in a dialog.
 *
 * @param {string} question
 * @param {Array} fields - [{name, label, required}].
 * @param {object} options - as for `ask`.
 * @returns {Promise<?object>} {name: text}, or null if the user leaves it.
 */
export function askFor(question, fields, {yes, danger = false, details = null}) {
  const no = make('button', {type: 'button', autofocus: !fields.length,
    onclick: () => dialog.close('no')}, t('dialog.no'));
  const form = make('form', {method: 'dialog'},
    make('p', {id: 'question'}, question), details,
    ...fields.map(({name, label, required}) => make('label', {}, label, make('input', {
      name, required, autocomplete: 'off', spellcheck: 'false'}))),
    make('div', {class: 'buttons'}, no,
      make('button', {value: 'yes', class: danger ? 'danger' : 'main'}, yes)));
  const dialog = make('dialog', {'aria-labelledby': 'question'}, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes' ? Object.fromEntries(new FormData(form)) : null);
    });
  });
}

/**
 * Open a dialog with a form. A problem of its action stands beside its buttons, and the dialog stays
 * open with what the user typed.
 *
 * @param {object} form - title; content, the nodes between the title and the buttons; yes, the word
 *   on the button; act, an asynchronous function of the form, which returns null if the user does
 *   not go on; done, which is called after the dialog is closed.
 */
export function openForm({title, content, yes, act, done}) {
  const submit = make('button', {class: 'main'}, yes);
  const form = make('form', {}, make('h2', {id: 'dialog-title'}, title), ...content,
    make('div', {class: 'buttons'},
      make('button', {type: 'button', onclick: () => dialog.close()}, t('dialog.no')), submit));
  const dialog = make('dialog', {'aria-labelledby': 'dialog-title', onclose: () => dialog.remove()},
    form);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    clearAll(form);
    submit.setAttribute('aria-busy', 'true');
    try {
      if (await act(form) !== null) {
        dialog.close();
        done();
      }
    } catch (error) {
      showRefusal(form, error);
    }
    submit.removeAttribute('aria-busy');
  });
  document.body.append(dialog);
  dialog.showModal();
  const first = form.querySelector('input, select') ?? form.querySelector('button');
  first.focus();
  first.select?.();
}

/** Show a text that is shown only once, with a button that copies it; return when it is closed. */
export function showSecret(title, help, secret) {
  const input = make('input', {readonly: true, value: secret, 'aria-label': title});
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    tell(t('lease.copied'));
  };
  const dialog = make('dialog', {'aria-labelledby': 'dialog-title'},
    make('h2', {id: 'dialog-title'}, title), make('p', {}, help), input,
    make('div', {class: 'buttons'},
      make('button', {type: 'button', class: 'main', onclick: copy}, t('lease.copy')),
      make('button', {type: 'button', onclick: () => dialog.close()}, t('dialog.close'))));
  document.body.append(dialog);
  dialog.showModal();
  input.select();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => { dialog.remove(); resolve(); });
  });
}

/** Tell something in passing. */
export function tell(text) { document.getElementById('messages').textContent = text; }
