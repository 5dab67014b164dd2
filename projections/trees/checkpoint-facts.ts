/** What the worker that signs checkpoints knows of its work. */
export interface CheckpointFacts {
  readonly isOn: boolean
  /** Records that the trees cover; undefined before they were looked at. */
  readonly treeSize: number | undefined
  readonly signed: number
  /** Why the last attempt to sign was refused; undefined when there was none, or it succeeded. */
  readonly refusal: string | undefined
}
