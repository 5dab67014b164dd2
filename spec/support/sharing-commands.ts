/** Commands of shares and embeds as the management plane and the delivery of shares send them. */
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { Command, CommandOf } from '../../engine/commands/commands.ts'
import { LINKS_OF_KEY_MAXIMUM } from '../../engine/links/rules.ts'
import { auditOf, digestOf } from './commands.ts'

const audit = auditOf('share.created', 'bucket:photos/cat.jpg')
const TARGET = { bucket: 'photos', key: 'cat.jpg', version: undefined } as const

function linkOf(id: string) {
  return { ...TARGET, digest: digestOf(Buffer.from(id)), sealedToken: Buffer.from(`token of ${id}`) }
}

export function createShare(
  share: string,
  changed: Partial<CommandOf<'create-share'>> = {},
): CommandOf<'create-share'> {
  const limits = { fileName: undefined, password: undefined, expiresMicroseconds: undefined }
  return { kind: 'create-share', audit, share, ...linkOf(share), ...limits, maximumDownloads: undefined, ...changed }
}

export function revokeShare(share: string): CommandOf<'revoke-share'> {
  return { kind: 'revoke-share', audit, share }
}

export function deleteShare(share: string): CommandOf<'delete-share'> {
  return { kind: 'delete-share', audit, share }
}

export function countDownload(share: string): CommandOf<'count-download'> {
  const system = { ...audit, principal: 'system:sharing', credentialId: undefined, sourceAddress: undefined }
  return { kind: 'count-download', audit: { ...system, operation: 'share.downloaded' }, share }
}

export function createEmbed(
  embed: string,
  changed: Partial<CommandOf<'create-embed'>> = {},
): CommandOf<'create-embed'> {
  const settings = { allowedOrigins: ['https://a.example'], expiresMicroseconds: undefined, cacheSeconds: 60 }
  return { kind: 'create-embed', audit, embed, ...linkOf(embed), ...settings, ...changed }
}

export function updateEmbed(
  embed: string,
  changed: Partial<CommandOf<'update-embed'>> = {},
): CommandOf<'update-embed'> {
  const settings = { allowedOrigins: ['*'], expiry: undefined, cacheSeconds: 0 }
  return { kind: 'update-embed', audit, embed, ...settings, ...changed }
}

export function revokeEmbed(embed: string): CommandOf<'revoke-embed'> {
  return { kind: 'revoke-embed', audit, embed }
}

export function deleteEmbed(embed: string): CommandOf<'delete-embed'> {
  return { kind: 'delete-embed', audit, embed }
}

/** Makes as many links of a key as it may have. Many commands share a batch, where each request over the wire takes one. */
export async function makeLinks(client: EngineClient, create: (name: string) => Command): Promise<void> {
  const names = Array.from({ length: LINKS_OF_KEY_MAXIMUM }, (_, index) => `link-${index}`)
  await Promise.allSettled(names.map((name) => client.execute(create(name))))
}
