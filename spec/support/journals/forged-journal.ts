/** A journal as somebody writes it who can write its files and has no key: every hash, checksum and mark is right. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Unpackr } from 'msgpackr/index-no-eval'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { decodeGenesis } from '../../../engine/journal/bodies.ts'
import { RECORD_KIND } from '../../../engine/journal/format.ts'
import { readGenesis, readJournal } from '../../../engine/journal/read-journal.ts'
import { coldBytes } from './cold-bytes.ts'
import { JournalBuilder } from './journal-builder.ts'
import { packBody } from './journal-bytes.ts'

const unpackr = new Unpackr({ useRecords: false, copyBuffers: true, int64AsType: 'number' })

/** An entry that can be altered: `values` are those of its body. */
export interface ForgedEntry {
  readonly kind: number
  readonly time: number
  readonly values: unknown[]
}

/** Entries of a journal, without its genesis and seals; the first has sequence 1 while there is one segment. */
export function entriesOf(paths: StorePaths): ForgedEntry[] {
  const entries: ForgedEntry[] = []
  readJournal(nodeDisk, paths, undefined, {
    record: ({ kind, timeMicroseconds: time, body }) => {
      if (kind !== RECORD_KIND.change && kind !== RECORD_KIND.audit) return
      entries.push({ kind, time, values: unpackr.unpack(Buffer.from(body)) as unknown[] })
    },
    batch: () => undefined,
  })
  return entries
}

/**
 * Replaces the journal of a store by one of these entries, in one segment. Its projections stay.
 * @param isCold whether that segment is sealed and compressed, before an empty one
 */
export function writeForged(paths: StorePaths, entries: readonly ForgedEntry[], isCold = false): void {
  const genesis = decodeGenesis(readGenesis(nodeDisk, paths))
  const builder = new JournalBuilder({
    deploymentId: Buffer.from(genesis.deploymentId),
    masterKeyCheck: Buffer.from(genesis.masterKeyCheck),
    startTime: (entries[0]?.time ?? 1) - 1,
  })
  for (const { kind, time, values } of entries) {
    builder.time = Math.max(builder.time, time)
    builder.append([{ kind, body: packBody(values) }])
  }
  if (isCold) compress(builder)
  for (const name of readdirSync(paths.journal)) rmSync(join(paths.journal, name), { recursive: true, force: true })
  builder.write(paths.journal, builder.head(true))
}

function compress(builder: JournalBuilder): void {
  const { open } = builder
  builder.seal()
  open.bytes = coldBytes(open.bytes)
}

/** An entry that nobody attempted, with changes as they are stored. */
export function strangeEntry(time: number, ...changes: readonly unknown[][]): ForgedEntry {
  const audit = [1, 'management:system-administrator', null, '127.0.0.1', null, 'POST /api/v1/tokens', '/api/v1/tokens']
  return { kind: RECORD_KIND.change, time, values: [...audit, null, [], changes] }
}
