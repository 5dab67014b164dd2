/** A way to each error about the clock. */
import type { ApiAnswer, ApiClient } from '../../support/api-client.ts'

const HOUR = 3_600_000
const REASON = { reason: 'a spec' }

interface ClockStore {
  /** Moves the clock of the store, in milliseconds. */
  readonly step: (milliseconds: number) => void
  /** The path of a new version with a retention. */
  readonly lockedVersion: () => Promise<string>
  readonly write: () => Promise<unknown>
}

export function clockErrors(api: ApiClient, { step, lockedVersion, write }: ClockStore) {
  return {
    CLOCK_BEHIND: async (): Promise<ApiAnswer> => {
      const path = await lockedVersion()
      step(-10 * HOUR)
      const answer = await api.call('DELETE', path)
      step(10 * HOUR)
      return answer
    },
    CLOCK_NOT_BEHIND: (): Promise<ApiAnswer> => api.call('POST', '/clock/set-back', REASON),
    CLOCK_HELD: async (): Promise<ApiAnswer> => {
      await api.get('POST', '/management-tokens', { name: 'ends', role: 'auditor', expires_in_seconds: 60 })
      step(HOUR)
      await write()
      step(-HOUR)
      const answer = await api.call('POST', '/clock/set-back', REASON)
      step(HOUR)
      return answer
    },
  }
}
