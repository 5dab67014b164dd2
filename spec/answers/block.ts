import type { Talk } from './talk.ts'

/** Requests that belong together and know nothing of those of any other block. */
export interface Block {
  /** Lower-case letters, digits and hyphens: the bucket of the block is named for it. */
  readonly name: string
  /** Has a server of its own, because it asks for what is counted or listed over all of a store. */
  readonly alone?: boolean
  /** Asks for the audit log: each request waits until the one before is in it. */
  readonly steady?: boolean
  readonly settings?: Readonly<Record<string, string>>
  readonly run: (talk: Talk) => Promise<void>
}
