// SPDX-License-Identifier: Apache-2.0
// A plain question before anything is changed that cannot be undone.

import {make} from './dom.js';
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

/** Tell something in passing. */
export function tell(text) { document.getElementById('messages').textContent = text; }
