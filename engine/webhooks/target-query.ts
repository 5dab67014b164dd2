import type { WebhookState } from './state.ts'
import type { SecretBox } from '../keys/secret-box.ts'

type TargetParts = Pick<WebhookState, 'target' | 'sealedQuery'>

/** Context of the sealed query, which must not pass for the signing secret of its webhook. */
function contextOf(webhook: string): string {
  return `${webhook}?`
}

/** Seals the query of a target for its webhook alone. */
export function sealedTarget(url: string, webhook: string, secrets: SecretBox): TargetParts {
  const at = url.indexOf('?')
  if (at < 0 || at === url.length - 1) return { target: url, sealedQuery: undefined }
  return { target: url.slice(0, at), sealedQuery: secrets.seal(url.slice(at + 1), contextOf(webhook)) }
}

/** The whole address. @throws SecretBoxError */
export function openedTarget(webhook: TargetParts & Pick<WebhookState, 'webhook'>, secrets: SecretBox): string {
  const { target, sealedQuery } = webhook
  return sealedQuery === undefined ? target : `${target}?${secrets.open(sealedQuery, contextOf(webhook.webhook))}`
}
