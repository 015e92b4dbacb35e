// SPDX-License-Identifier: Apache-2.0
// Requests to climate-api, through the console, which knows the token.

import {logInAgain} from './session.js';
import {t} from './texts.js';

// How often a request is repeated that the console or climate-api refused for the moment (429).
const REPEATS = 3;
// The network, a proxy, the console or climate-api did not answer.
const OUTAGES = [0, 502, 503, 504];

/** A request that failed; its message is for people. */
export class Problem extends Error {
  constructor(status, answer) {
    super(answer?.error_message ?? answer?.error?.message ?? t('rest.failed', {status}));
    this.status = status;
    this.code = answer?.error_name ?? '';
    this.details = answer?.details ?? {};
  }

  /** Whether no answer of climate-api came, so that the request may have been carried out. */
  get isOutage() { return OUTAGES.includes(this.status); }
}

/**
 * Send a request to /v1. If the session is over, wait until the user has logged in again.
 *
 * @param {string} path - after /v1, such as "/leases".
 * @param {object} options - method, query, body (an object), headers, signal.
 * @returns {Promise<{status: number, etag: ?string, body: ?object}>}; at 304 the body is null.
 * @throws {Problem} if the answer is 400 or more, or none comes.
 */
export const call = (path, options = {}) => request(`/rest/v1${path}`, options);

/** Send a GET to the console itself; return its JSON. */
export const callConsole = async (path, query) => (await request(path, {query})).body;

async function request(path, options) {
  let answer = await send(path, options);
  if (answer.status === 401 && await logInAgain((options.method ?? 'GET') !== 'GET')) {
    answer = await send(path, options);
  }
  for (let repeats = 0; answer.status === 429 && repeats < REPEATS; repeats += 1) {
    const seconds = Number(answer.headers.get('Retry-After') ?? 1);
    await new Promise((resolve) => { setTimeout(resolve, seconds * 1000); });
    answer = await send(path, options);
  }
  const found = [204, 304].includes(answer.status) ? null : await answer.json().catch(() => null);
  if (answer.status >= 400) throw new Problem(answer.status, found);
  return {status: answer.status, etag: answer.headers.get('ETag'), body: found};
}

/** Send a request once; return the Response. */
async function send(path, {method = 'GET', query = {}, body, headers = {}, signal}) {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, value);
  }
  const sent = {Accept: 'application/json', 'X-Climate-Project': document.body.dataset.project,
    ...headers};
  if (method !== 'GET') sent['X-CSRF-Token'] = document.body.dataset.csrfToken;
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  try {
    return await fetch(url, {method, headers: sent, signal, cache: 'no-store',
      body: body === undefined ? undefined : JSON.stringify(body)});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, {error_message: t('rest.unreachable')});
  }
}
