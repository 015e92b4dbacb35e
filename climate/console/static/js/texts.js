// SPDX-License-Identifier: Apache-2.0
// The catalogue of texts, the same file that the pages on the server use.

let catalogue = {};

/**
 * Load the catalogue; every page does so before anything else.
 *
 * @param {?Function} more - an asynchronous function, which is called when the texts are known. The
 *   page does not answer to clicks before it has returned.
 * @returns {Promise} what `more` returns.
 */
export async function loadTexts(more = null) {
  const answer = await fetch(document.body.dataset.texts);
  catalogue = await answer.json();
  const result = await more?.();
  // The page listens in the same turn of the event loop, so it answers to clicks from now on.
  document.body.dataset.ready = '';
  return result;
}

/** Return the text of a key with its {fields} replaced; the key itself if there is none. */
export function t(key, values = {}) {
  return (catalogue[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
