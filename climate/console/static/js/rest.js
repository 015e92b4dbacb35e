// SPDX-License-Identifier: Apache-2.0
// Requests to climate-api, through the console, which knows the token.

import {t} from './texts.js';

/** A request that failed; its message is for people. */
export class Problem extends Error {
  constructor(status, answer) {
    super(answer?.error_message ?? answer?.error?.message ?? t('rest.failed', {status}));
    this.status = status;
    this.code = answer?.error_name ?? '';
    this.details = answer?.details ?? {};
  }
}

/**
 * Send a request to /v1.
 *
 * @param {string} path - after /v1, such as "/leases".
 * @param {object} options - method, query, body (an object), headers, signal.
 * @returns {Promise<{status: number, etag: ?string, body: ?object}>}; at 304 the body is null.
 * @throws {Problem} if the answer is 400 or more, or none comes.
 */
export async function call(path, {method = 'GET', query = {}, body, headers = {}, signal} = {}) {
  const url = new URL(`/rest/v1${path}`, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, value);
  }
  const sent = {Accept: 'application/json', ...headers};
  if (method !== 'GET') sent['X-CSRF-Token'] = document.body.dataset.csrfToken;
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(url, {method, headers: sent, signal, cache: 'no-store',
      body: body === undefined ? undefined : JSON.stringify(body)});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, {error_message: t('rest.unreachable')});
  }
  const found = [204, 304].includes(answer.status) ? null : await answer.json().catch(() => null);
  if (answer.status === 401) {
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
  if (answer.status >= 400) throw new Problem(answer.status, found);
  return {status: answer.status, etag: answer.headers.get('ETag'), body: found};
}
