import type { Microseconds } from '../brands.ts'
import { CLOCK_STEP_MICROSECONDS } from '../journal/batch-builder.ts'
import type { EngineRequest } from './requests.ts'

/** Whether a request has a batch of its own. */
export function isAlone(request: EngineRequest | undefined): boolean {
  return request?.kind === 'command' && request.command.kind === 'set-clock-back'
}

/** Whether the host's clock is behind the order time of an entry by more than the tolerance. */
export function isBehind(host: Microseconds, order: number, tolerance: Microseconds): boolean {
  return host < order - (order % CLOCK_STEP_MICROSECONDS) - tolerance
}
