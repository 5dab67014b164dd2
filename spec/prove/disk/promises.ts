/** What the journal has promised so far, beside the state that it gives: records that were durable stay as they are. */
import { lastBefore } from '../../../engine/journal/positions.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { decodeEntry } from '../../../engine/events/entry-codec.ts'
import type { ChangeNamed } from '../../../engine/events/changes.ts'
import { RECORD_KIND } from '../../../engine/journal/format.ts'
import { HeadFile } from '../../../engine/journal/head-mark.ts'
import { readJournal } from '../../../engine/journal/read-journal.ts'
import { recoverJournal } from '../../../engine/journal/recovery/recovery.ts'
import type { ModelledClients } from '../../support/dying-servers/modelled-clients.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import type { Finding } from '../../support/dying-servers/client-findings.ts'

export class Promises {
  /** Hash in hexadecimal by sequence of records that must be there from now on. */
  readonly #heads = new Map<number, string>()
  /** The last sequence that a recovery found: no request of a client may stand behind it before there are clients. */
  #end: number | undefined

  add(sequence: number, hash: Uint8Array): void {
    this.#heads.set(sequence, Buffer.from(hash).toString('hex'))
  }

  /** Clients may write again. */
  begin(): void {
    this.#end = undefined
  }

  /** After a crash: whatever recovery makes of the journal now, it must make of it however often it is begun (J16). */
  pin(disk: SimulatedDisk, paths: StorePaths): void {
    const copy = disk.clone()
    if (!copy.list(paths.journal).some((name) => name.endsWith('.segment'))) return
    const mark = HeadFile.open(copy, paths).newest
    let tail: ReturnType<typeof recoverJournal>
    try {
      tail = recoverJournal(copy, paths, { mark, applied: undefined, wasInUse: true })
    } catch {
      // The opening will say so.
      return
    }
    if (tail === undefined) return
    const { sequence, head } = lastBefore(tail.chain)
    this.#end ??= sequence
    this.add(sequence, head)
  }

  /** What the journal of an open store has against them. */
  check(disk: Disk, paths: StorePaths, clients: ModelledClients): Finding[] {
    const found: Finding[] = []
    const recovered = new Set<string>()
    const missing = new Map(this.#heads)
    readJournal(disk, paths, undefined, {
      record: ({ kind, sequence, body, hash }) => {
        const known = missing.get(sequence)
        missing.delete(sequence)
        if (known !== undefined && known !== hash.toString('hex')) {
          found.push({ kind: 'lost', text: `sequence ${sequence} is another record than before` })
        }
        if (kind !== RECORD_KIND.change && kind !== RECORD_KIND.audit) return
        const { requestId, changes } = decodeEntry(Buffer.from(body))
        for (const change of changes) if (change.name === 'journal.recovered') recovered.add(nameOfEvidence(change))
        if (requestId === undefined) return
        if (!clients.wasSent(requestId)) {
          found.push({ kind: 'wrong', text: `sequence ${sequence} is of request ${requestId}, which was never sent` })
        }
        if (this.#end !== undefined && sequence > this.#end) {
          found.push({ kind: 'wrong', text: `sequence ${sequence} came back after a recovery that did not find it` })
        }
      },
      batch: () => undefined,
    })
    for (const sequence of missing.keys()) {
      found.push({ kind: 'lost', text: `sequence ${sequence} was durable and is gone` })
    }
    for (const name of disk.list(paths.aside)) {
      if (recovered.has(name)) continue
      found.push({ kind: 'wrong', text: `the journal does not speak of what was cut off and kept as ${name}` })
    }
    return found
  }
}

/** The name that evidence has once the journal speaks of it (J15). */
function nameOfEvidence({ segment, offset, digest, refused }: ChangeNamed<'journal.recovered'>): string {
  return `segment-${segment}-offset-${offset}-${refused ? 'refused-' : ''}${Buffer.from(digest).toString('hex').slice(0, 16)}`
}
