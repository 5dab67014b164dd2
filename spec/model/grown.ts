import { hash } from 'node:crypto'
import type { CommandOf } from '../../engine/commands/commands.ts'
import { joined } from './content.ts'
import type { Stored } from './rules.ts'
import type { ModelPayload, ModelVersion } from './state.ts'

/** What an append makes of an object with bytes; of none it makes the same bytes again. */
export function grown(
  { size: offset, etag: before, headers, payload: base, checksum, tags }: ModelVersion,
  added: ModelPayload | undefined,
  { size, etag }: CommandOf<'append-object'>,
  sequence: number,
): Stored {
  if (added === undefined) return { size: offset, etag: before, headers, payload: base, checksum, tags }
  const parts = [...(base?.kind === 'parts' ? base.parts : [base]), added]
  const bytes = joined([base?.bytes ?? Buffer.alloc(0), added.bytes])
  const payload = { id: sequence, kind: 'parts', bytes, parts, completion: sequence, isDigested: false } as const
  const tag = `${hash('md5', `${before}${etag}`, 'hex')}-${parts.length}`
  return { size: offset + size, etag: tag, headers, payload, checksum: undefined, tags }
}
