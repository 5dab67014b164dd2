import type { EngineClient } from '../../engine/client.ts'
import type { OpaqueIds } from '../../engine/opaque-ids.ts'
import type { ProofSigner } from '../../engine/proof-signer.ts'
import type { SecretBox } from '../../engine/secret-box.ts'
import type { AuditLog } from '../../projections/audit-log.ts'
import type { AccessReader } from '../../projections/access-reader.ts'
import type { LockReader } from '../../projections/lock-reader.ts'
import type { PayloadSources } from '../objects/payload-body.ts'
import type { PayloadStores } from '../objects/receive-payload.ts'
import type { CounterHistory } from './counter-history.ts'
import type { MetricReading } from './metrics.ts'
import type { StorageInspection } from './storage-inspection.ts'
import type { ReadinessCheck } from './routes/probes.ts'

/** What the routes of the management plane work with. */
export interface ManagementServices extends PayloadSources, PayloadStores {
  readonly engine: EngineClient
  readonly access: AccessReader
  readonly audit: AuditLog
  readonly locks: LockReader
  /** Seals the secrets of service accounts. */
  readonly secrets: SecretBox
  readonly versionIds: OpaqueIds
  readonly proofs: ProofSigner
  /** Every action that a policy can name. */
  readonly actions: ReadonlySet<string>
  readonly storage: StorageInspection
  readonly version: string
  readonly deploymentId: string
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly ready: () => Promise<readonly ReadinessCheck[]>
  /** Reads every metric now. */
  readonly metrics: () => readonly MetricReading[]
  readonly counterHistory: Pick<CounterHistory, 'readings'>
}
