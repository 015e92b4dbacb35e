// SPDX-License-Identifier: Apache-2.0
// Holds the answers to requests whose addresses match a pattern, see browser.py.
const [pattern, method] = arguments;
const real = window.fetch;
window.heldAnswers = [];
window.fetch = async (url, options = {}) => {
  const asked = decodeURIComponent(String(url));
  const isHeld = new RegExp(pattern).test(asked) && (!method || method === options.method);
  if (!isHeld) return real(url, options);
  const answer = await real(url, {...options, signal: undefined});
  const [{status, headers}, text] = [answer, await answer.text()];
  await new Promise((resolve, reject) => {
    window.heldAnswers.push({resolve, lose: () => reject(new TypeError('lost'))});
  });
  return new Response(text || null, {status, headers});
};
window.endHold = () => { window.fetch = real; };
