import type { Milliseconds } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CapabilityTokens } from '../../engine/links/capability-tokens.ts'
import type { PasswordHashing } from '../exchange/password-hashing.ts'
import type { PayloadSources } from '../objects/read-object.ts'
import type { AttemptLimits } from './attempt-limits.ts'
import type { ShareTickets } from './share-tickets.ts'

/** The services of the public routes; one set per thread. */
export interface SharingServices extends PayloadSources {
  readonly engine: EngineClient
  readonly tokens: CapabilityTokens
  /** Whether links are followed at all (`sharing.enabled`). */
  readonly isEnabled: boolean
  /** Milliseconds since 1970, never before the journal's last entry: a clock that is set back revives no link. */
  readonly expiryClock: () => Milliseconds
}

/** The further services of the routes of shares. */
export interface ShareServices extends SharingServices {
  readonly tickets: ShareTickets
  readonly limits: AttemptLimits
  readonly hashing: PasswordHashing
}
