/** State of the worker that signs checkpoints. */
export interface SigningFacts {
  readonly isOn: boolean
  /** Records that the trees cover; undefined before they were opened. */
  readonly treeSize: number | undefined
  readonly signed: number
  /** Hashes of the trees that differed from the journal when a reader met damage, and were written again. */
  readonly mendedHashes: number
  /** Why the last attempt to sign was refused; undefined when there was none, or it succeeded. */
  readonly refusal: string | undefined
  /** Its name, where only the operator can end it. */
  readonly refusalCode: 'CHECKPOINT_ROLLBACK' | undefined
}

/** State of the workers of checkpoints. */
export interface CheckpointFacts extends SigningFacts {
  /**
   * What the last checkpoint still lacks before it is published, for example "a time stamp"; empty once it is
   * published.
   */
  readonly waitsFor: readonly string[]
}
