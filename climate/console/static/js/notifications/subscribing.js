// SPDX-License-Identifier: Apache-2.0
// Creates subscriptions. If no answer comes, the subscription may exist, so a repeated request
// searches for it first.

import {call} from '../rest.js';
import {t} from '../texts.js';

// The subscriptions that existed before a request whose answer was lost, and its body as text.
let doubtful = null;

const existing = async () => (await call('/subscriptions')).body.subscriptions;

/** Return whether a subscription is what a lost request has created. */
const isLost = ({id, transport, address, scope}, body) => !doubtful.known.has(id)
  && transport === body.transport && scope === body.scope
  && (body.address === undefined || address === body.address);

/**
 * Create a subscription; once, if the request is repeated after its answer was lost.
 *
 * @param {object} body - as POST /v1/subscriptions takes it.
 * @returns {Promise<object>} the subscription, with its secret or its address.
 * @throws {Problem}
 */
export async function subscribed(body) {
  const key = JSON.stringify(body);
  const subscriptions = await existing();
  const found = doubtful?.key === key && subscriptions.find((each) => isLost(each, body));
  if (found) {
    doubtful = null;
    return withSecret(found);
  }
  const known = new Set(subscriptions.map(({id}) => id));
  try {
    const answer = await call('/subscriptions', {method: 'POST', body});
    doubtful = null;
    return answer.body.subscription;
  } catch (error) {
    if (!error.isOutage) throw error;
    doubtful = doubtful?.key === key ? doubtful : {key, known};
    error.message = `${error.message} ${t('notifications.perhaps')}`;
    throw error;
  }
}

/** Return a subscription with a new secret, because the first one was in the lost answer. */
async function withSecret(subscription) {
  if (subscription.transport === 'mail') return subscription;
  const {body} = await call(`/subscriptions/${subscription.id}`, {
    method: 'PUT', body: {renew_secret: true}});
  return body.subscription;
}
