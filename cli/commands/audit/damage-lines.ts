import { visibleText } from '../../terminal/visible-text.ts'

/** Records that cannot be read, as a server reports them. */
export interface DamageRecord {
  readonly sequence: number
  readonly last_sequence: number
  readonly verdict: string
  readonly segment: string
  readonly offset: number
  readonly detail: string
}

/** One line: which records, what is wrong with them, and where it shows. */
function damageLine({ sequence, last_sequence, verdict, segment, offset, detail }: DamageRecord): string {
  const which = last_sequence > sequence ? `records ${sequence} to ${last_sequence}` : `record ${sequence}`
  return visibleText(`  ${which}: ${verdict}, ${segment}, offset ${offset} (${detail})`)
}

/** Lines of a command about damage; the answers of the server have more. */
const SHOWN_MAXIMUM = 20

/** What could not be read, each run of records once, in the order of the log; nothing without damage. */
export function damageLines(damage: readonly DamageRecord[]): string[] {
  const runs = new Map(damage.map((one) => [one.sequence, one]))
  const all = [...runs.values()].toSorted((one, other) => one.sequence - other.sequence)
  const more = all.length - SHOWN_MAXIMUM
  return [...all.slice(0, SHOWN_MAXIMUM).map(damageLine), ...(more > 0 ? [`  and ${more} more`] : [])]
}
