import type { Sequence } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import { digest, integer, sequence } from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import type { WitnessedLog } from '../../engine/checkpoints/state.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { packed } from '../tables/row-codecs.ts'

/** `witnessed-logs`: origin of another log to its last checkpoint that was cosigned here. */
const { encode, decode } = packed(
  record('witnessed log', {
    sequence: field(sequence, 'entry'),
    size: field(integer, 'size'),
    root: field(digest, 'root'),
    publicKey: field(digest, 'public key'),
    seconds: field(integer, 'time'),
    firstSequence: field(sequence, 'entry of the first one'),
    firstSeconds: field(integer, 'time of the first one'),
  }),
)

export function putWitnessed(
  table: Table,
  at: Sequence,
  { origin, ...change }: ChangeNamed<'checkpoint.cosigned'>,
): void {
  const first = getWitnessed(table, origin)?.first ?? { sequence: at, seconds: change.seconds }
  const row = { ...change, sequence: at, firstSequence: first.sequence, firstSeconds: first.seconds }
  table.put(Buffer.from(origin), encode(row))
}

export function getWitnessed(table: TableReader, origin: string): WitnessedLog | undefined {
  const row = table.get(Buffer.from(origin))
  return row && stateOf(origin, row)
}

/** All of them by origin. They are few: a setting names the logs that may be witnessed. */
export function allWitnessed(table: TableReader): WitnessedLog[] {
  return Array.from(table.rows({}), ({ key, value }) => stateOf(Buffer.from(key).toString(), value))
}

function stateOf(origin: string, row: Buffer): WitnessedLog {
  const { firstSequence, firstSeconds, ...last } = decode(row)
  return { origin, ...last, first: { sequence: firstSequence, seconds: firstSeconds } }
}
