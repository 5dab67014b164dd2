import type { VolumeNumber } from '../brands.ts'
import type { EngineReply } from './requests.ts'

/** Files that nothing refers to after the commit of a batch. */
export interface ReleasedFiles {
  /** Names of payload files. */
  readonly files: readonly string[]
  readonly volumes: readonly VolumeNumber[]
}

export interface BatchResult {
  readonly replies: EngineReply[]
  readonly released: ReleasedFiles
  /** Whether a bucket or access changed. */
  readonly settingsChanged: boolean
}

/** Of a batch without records. */
export const NOTHING = { released: { files: [], volumes: [] }, settingsChanged: false } as const
