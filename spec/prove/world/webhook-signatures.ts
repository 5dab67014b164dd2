/** The signatures of a delivery, by the words of the manual alone (spec/manual/management/webhooks.md). */
import { createHmac } from 'node:crypto'
import type { Arrival, Receivers } from './receivers.ts'
import type { ToldWebhook } from './webhook-oracle.ts'

/**
 * The newest secret signs, and for a day the one before signs along. A secret may sign before the client was told it. A
 * webhook whose client never had the answer to its creation cannot be verified before its first rotation.
 * @returns what is wrong
 */
export function signatureProblem(
  arrival: Arrival,
  { id, previousUntil }: ToldWebhook,
  told: Receivers['secrets'],
): string | undefined {
  const secrets = told.filter(({ webhook }) => webhook === id)
  const newest = secrets.findLastIndex(({ moment }) => moment < arrival.moment)
  if (newest === -1) return undefined
  const own = String(arrival.headers['x-object-store-signature'])
  const signer = secrets.findIndex(({ secret }, index) => index >= newest && own === plainSignature(secret, arrival))
  const current = secrets[signer]
  if (current === undefined) return 'is signed by another secret than the newest'
  const before = secrets[signer - 1]
  // With all its rotations answered, the secret at `signer` came with rotation `signer - 1`.
  const until = previousUntil[signer - 1]
  const isRotating = before !== undefined && until !== undefined && until > arrival.clock * 1000
  const expected = [current, ...(isRotating ? [before] : [])].map(({ secret }) => standardSignature(secret, arrival))
  const isWhole = secrets.length === previousUntil.length + 1
  const found = String(arrival.headers['webhook-signature']).split(' ')
  if (found[0] !== expected[0]) return 'has another signature of Standard Webhooks than the newest secret makes'
  if (isWhole && found.join(' ') !== expected.join(' ')) return `has ${found.length} signatures, not ${expected.length}`
  return undefined
}

function plainSignature(secret: string, { body }: Arrival): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

function standardSignature(secret: string, { headers, body }: Arrival): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  return `v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`
}
