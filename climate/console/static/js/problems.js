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
  const label = input.closest('label, .field');
  // A field for a time says itself that it is not understood.
  if (label.querySelector('.problem:not(.refusal)')?.textContent === message) return;
  let note = label.querySelector('.refusal');
  if (!note) label.append(note = make('small', {class: 'problem refusal', role: 'alert'}));
  if (note.textContent !== message) note.textContent = message;
}

/** Show the message of an error at the end of an element, such as a row of a table. */
export function showIn(parent, message) {
  const note = make('p', {class: 'problem refusal', role: 'alert'});
  parent.append(note);
  // Text that is added to an element of the page is announced.
  note.textContent = message;
  note.scrollIntoView({block: 'nearest'});
}

/**
 * Show why a form was refused: at the field that the error names, otherwise at the button.
 *
 * @param {HTMLFormElement} form
 * @param {Error} error - a BadField, or a Problem whose details may have "field".
 */
export function showRefusal(form, error) {
  clearAll(form);
  const name = (error.details?.field ?? '').split('.')[0];
  const field = error.input ?? (name && form.elements.namedItem(name));
  if (!(field instanceof HTMLElement)) {
    showIn(form, error.message);
    return;
  }
  showAt(field, error.message);
  field.focus();
}

/** Remove the messages from a form, or another part of a page. */
export function clearAll(part) {
  for (const note of part.querySelectorAll('.refusal')) {
    note.closest('label, .field')?.querySelector('[aria-invalid]')?.removeAttribute('aria-invalid');
    note.remove();
  }
}
