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
export function damageLine({ sequence, last_sequence, verdict, segment, offset, detail }: DamageRecord): string {
  const which = last_sequence > sequence ? `records ${sequence} to ${last_sequence}` : `record ${sequence}`
  return visibleText(`  ${which}: ${verdict}, ${segment}, offset ${offset} (${detail})`)
}
