/** What the worker that signs checkpoints knows of its work. */
export interface SigningFacts {
  readonly isOn: boolean
  /** Records that the trees cover; undefined before they were looked at. */
  readonly treeSize: number | undefined
  readonly signed: number
  /** Why the last attempt to sign was refused; undefined when there was none, or it succeeded. */
  readonly refusal: string | undefined
  /** Its name, where only the operator can end it. */
  readonly refusalCode: 'CHECKPOINT_ROLLBACK' | undefined
}

/** What the workers know of checkpoints. */
export interface CheckpointFacts extends SigningFacts {
  /** What the last checkpoint must still have before it is published, for example "a time stamp"; empty where it is published. */
  readonly waitsFor: readonly string[]
}
