import { millisecondsOf } from '../brands.ts'
import { DomainError } from '../errors.ts'
import type { RulesOf } from '../domain/decision.ts'
import type { EndsState } from '../state-ports.ts'
import type { ClockChange } from './change-types.ts'
import type { ClockCommands } from './commands.ts'

/** `clock`: of retentions. */
type Ends = { readonly [Name in 'clock' | 'links' | 'access']: EndsState }

export const clockRules: RulesOf<ClockCommands, ClockChange, Ends> = {
  /**
   * Nothing may change its state by it: a lock that has elapsed would hold again, and a link that has expired would open
   * again. What is read here is as it is when the change is committed.
   */
  'set-clock-back'({ reason }, { clock, links, access, now, last, clockIsBehind }) {
    const { orderMicroseconds: from, timeMicroseconds: to } = last
    if (!clockIsBehind || to >= from) throw new DomainError('clock-is-not-behind')
    const span = { after: millisecondsOf(Math.floor(to / 1000)), through: now }
    const holds = clock.endsIn(span) || links.endsIn(span) || access.endsIn(span)
    if (holds) throw new DomainError('clock-passed-ends')
    return { changes: [{ name: 'clock.set-back', from, to, reason }] }
  },
}
