import type { ReadinessCheck } from '../../planes/management/services.ts'
import { hasItsDirectories } from './store/payload-places.ts'
import type { StoreSession } from './store/store-session.ts'
import type { EngineThread } from './threads/engine-thread-handle.ts'

interface ReadinessParts {
  readonly engine: Pick<EngineThread, 'healthy' | 'roomFor'>
  readonly store: StoreSession
  /** The setting `sharing.enabled`. */
  readonly isSharing: boolean
}

/** Of no token. */
const NO_DIGEST = new Uint8Array(32)

/** Object storage, metadata, storage events, links where there may be any, and the journal, which is the audit store. */
export function readiness({ engine, store, isSharing }: ReadinessParts, isStopping: boolean): ReadinessCheck[] {
  const { healthy, roomFor } = engine
  return [
    { name: 'server', ready: !isStopping, reason: 'the server is stopping' },
    {
      name: 'audit',
      ready: healthy && roomFor === 'everything',
      reason: healthy
        ? 'the disk is full, and the journal has no room for records of reads'
        : 'the journal cannot be written',
    },
    { name: 'metadata', ready: works(() => store.catalog.snapshot().totals()), reason: 'the catalog cannot be read' },
    { name: 'events', ready: works(() => store.events.beginning), reason: 'the storage events cannot be read' },
    ...(isSharing
      ? [
          {
            name: 'sharing',
            ready: works(() => store.catalog.snapshot().findShare(NO_DIGEST)),
            reason: 'the links cannot be read',
          },
        ]
      : []),
    { name: 'object storage', ready: hasItsDirectories(store.paths), reason: 'a directory of the store is missing' },
  ]
}

function works(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
