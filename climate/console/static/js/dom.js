// SPDX-License-Identifier: Apache-2.0
// Elements of a page.

export const element = (id) => document.getElementById(id);

/**
 * Make an element.
 *
 * @param {string} name - the name of the tag.
 * @param {object} attributes - {attribute: text}; "on…" are listeners, true is an empty text, and
 *   what is false, null or undefined is left out.
 * @param {...(Node|string|null)} children - texts are never read as HTML.
 */
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  fill(made, ...children);
  return made;
}

/** Give an element other children; those that are null or undefined are left out. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** Return a function that calls another one when it was not called for some milliseconds. */
export function calm(action, pauseMs) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), pauseMs);
  };
}
