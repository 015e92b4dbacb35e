// SPDX-License-Identifier: Apache-2.0
// Errors stand at the field that they are about, and screen readers announce them.

import {make} from './dom.js';

/** Thrown where a field has a value that cannot be meant; the message is for people. */
export class BadField extends Error {
  /**
   * @param {string} message
   * @param {?HTMLElement} input - the field.
   */
  constructor(message, input = null) {
    super(message);
    this.input = input;
    this.details = {};
  }
}

/** Show the message of an error in the label of a field. */
export function showAt(input, message) {
  input.setAttribute('aria-invalid', 'true');
  const label = input.closest('label');
  let note = label.querySelector('.refusal');
  if (!note) label.append(note = make('small', {class: 'problem refusal', role: 'alert'}));
  if (note.textContent !== message) note.textContent = message;
}

/** Remove the messages from the labels of a form. */
export function clearAll(form) {
  for (const note of form.querySelectorAll('label .refusal')) {
    note.closest('label').querySelector('[aria-invalid]').removeAttribute('aria-invalid');
    note.remove();
  }
}
