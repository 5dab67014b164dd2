/** What becomes of a host while requests are on their way, and what an answer says of a request that met it. */
import type { WireAnswer } from '../../support/wire-client.ts'
import { SYNCS } from '../disk/disk-faults.ts'
import type { FaultKind } from '../disk/life-plans.ts'
import type { SuddenEnd, WorldHost } from './world-host.ts'

/** Operations are those of the disk, or its syncs alone: most is at stake before one. */
export type Strike =
  | { readonly kind: SuddenEnd; readonly operations: number; readonly of?: 'syncs' }
  | {
      readonly kind: 'fault'
      readonly fault: FaultKind
      readonly end: SuddenEnd | 'stop'
      /** Within so many operations of its kind it happens. */
      readonly within?: number
    }

/** In an answer to a deletion of several keys. */
const FAULT_OF_KEY = /<Error>.*<Code>(?:InsufficientStorage|InternalError|OutcomeUnknown|ServiceUnavailable)</
/** Codes of refusals that say that nothing was changed. */
const NOTHING_CHANGED = /<Code>(?:ServiceUnavailable|SlowDown)<|"code":"(?:AUDIT_UNAVAILABLE|CLOCK_BEHIND|SLOW_DOWN)"/

/** The next operations of the disk lead to the strike. */
export function arm({ faulty, disk, random }: WorldHost, strike: Strike): void {
  if (strike.kind === 'fault') {
    faulty.arm(strike.fault, disk, random, strike.within)
  } else if (strike.of === undefined) {
    disk.left = strike.operations
  } else {
    let left = strike.operations
    faulty.before = ({ name }) => {
      if (SYNCS.has(name)) left -= 1
      if (left === 0) disk.left = 0
    }
  }
}

/** Nothing goes wrong any more. */
export function disarm({ faulty, disk }: WorldHost): void {
  faulty.before = () => undefined
  faulty.disarm()
  disk.roomBytes = Number.POSITIVE_INFINITY
}

/** Whether an answer is, or holds for one of several keys, a fault of the server. */
export function saysFault({ status, headers, text }: WireAnswer): boolean {
  return status >= 500 || (headers['content-type'] === 'application/xml' && FAULT_OF_KEY.test(text))
}

/** Whether an answer is a refusal that says that nothing was changed: the request has no effect, now and after any start. */
export function saysNothingChanged({ status, text }: WireAnswer): boolean {
  return status === 507 || (status === 503 && NOTHING_CHANGED.test(text))
}
