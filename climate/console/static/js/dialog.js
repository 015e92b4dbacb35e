// SPDX-License-Identifier: Apache-2.0
// A plain question before anything is changed that cannot be undone.

import {make} from './dom.js';
import {t} from './texts.js';

/**
 * Ask a question in a dialog.
 *
 * @param {string} question
 * @param {object} options - yes: the word on the button; danger: whether something is destroyed.
 * @returns {Promise<boolean>}
 */
export function ask(question, {yes, danger = false}) {
  const dialog = make('dialog', {'aria-labelledby': 'question'},
    make('form', {method: 'dialog'},
      make('p', {id: 'question'}, question),
      make('div', {class: 'buttons'},
        make('button', {value: 'no', autofocus: true}, t('dialog.no')),
        make('button', {value: 'yes', class: danger ? 'danger' : 'main'}, yes))));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}

/** Tell something in passing. */
export function tell(text) { document.getElementById('messages').textContent = text; }
