// SPDX-License-Identifier: Apache-2.0
// The catalogue of texts, the same file that the pages on the server use.

let catalogue = {};

/** Load the catalogue; every page does so before anything else. */
export async function loadTexts() {
  const answer = await fetch(document.body.dataset.texts);
  catalogue = await answer.json();
  // What follows a load of the texts happens at once, so the page answers to clicks from now on.
  document.body.dataset.ready = '';
}

/** Return the text of a key with its {fields} replaced; the key itself if there is none. */
export function t(key, values = {}) {
  return (catalogue[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
