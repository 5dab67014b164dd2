import type { Microseconds } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import { listOf, microseconds, optional, type ValueOf } from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import { scrubDamage, scrubProgress } from '../../engine/events/values.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { packed } from '../tables/row-codecs.ts'

/** The names of its tables. */
export const scrubTables = {
  scrub: 'scrub',
} as const

/** Damage that is kept; a pass only counts further damage, which its entries in the journal have. */
const DAMAGE_MAXIMUM = 256

const KEY = Buffer.from('scrub')

const foundDamage = record('found damage', {
  damage: field(scrubDamage, 'damage'),
  foundMicroseconds: field(microseconds, 'found'),
  passMicroseconds: field(microseconds, 'begin of the pass that found it'),
})

/** `scrub`: one row: MessagePack of the last pass. */
const state = record('scrub', {
  progress: field(scrubProgress, 'progress'),
  completedMicroseconds: field(optional(microseconds), 'end of the last pass that read everything'),
  damage: field(listOf(foundDamage), 'damage', 'of this pass and the one before it'),
})
const row = packed(state)

/** The last pass of the scrub, which may be running. */
export type ScrubState = ValueOf<typeof state>

export function getScrub(table: TableReader): ScrubState | undefined {
  const value = table.get(KEY)
  return value === undefined ? undefined : row.decode(value)
}

/** The findings of a pass replace the previous pass's when it is over: until then both are known. */
export function applyScrub(
  table: Table,
  time: Microseconds,
  { progress, damage }: ChangeNamed<'scrub.advanced'>,
): void {
  const before = getScrub(table)
  const passMicroseconds = progress.startedMicroseconds
  const isOver = progress.stage === 'over'
  const again = new Set(damage.map(nameOf))
  const kept = (before?.damage ?? []).filter(
    (found) => (!isOver || found.passMicroseconds === passMicroseconds) && !again.has(nameOf(found.damage)),
  )
  const found = damage.map((each) => ({ damage: each, foundMicroseconds: time, passMicroseconds }))
  const completedMicroseconds = isOver ? time : before?.completedMicroseconds
  const all = [...found, ...kept].slice(0, DAMAGE_MAXIMUM)
  table.put(KEY, row.encode({ progress, completedMicroseconds, damage: all }))
}

function nameOf({ kind, number }: { readonly kind: string; readonly number: number }): string {
  return `${kind} ${number}`
}
