import type { Clock } from '../../../engine/clock.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { AccessAuthentication } from '../../../engine/access/access-authentication.ts'
import { KeyRing } from '../../../engine/keys/key-ring.ts'
import type { StoreKeys } from '../../../engine/keys/store-keys.ts'
import { HeadFile } from '../../../engine/journal/head-mark.ts'
import { Journal } from '../../../engine/journal/journal.ts'
import type { OpenedProjections } from '../../../projections/open-projections.ts'
import type { OpeningReport, StoreHooks } from './opened-store.ts'
import type { StoreOptions } from './store-options.ts'

/** With the key that the store gets now. */
export type OpenOptions = StoreOptions & { readonly nextMasterKey?: Uint8Array }

/** Everything that the engine needs, open and up to date with the journal. */
export interface EngineParts {
  readonly disk: Disk
  readonly paths: StorePaths
  readonly options: StoreOptions
  readonly hooks: StoreHooks
  readonly clock: Clock
  readonly head: HeadFile
  readonly journal: Journal
  readonly projections: OpenedProjections
  readonly report: OpeningReport
  readonly ring: KeyRing
  readonly keys: StoreKeys
  readonly access: AccessAuthentication
  /** The key that the store gets now. */
  readonly nextMasterKey: Uint8Array | undefined
}
