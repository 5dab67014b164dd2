import type { Bench } from './bench.ts'

/** One thing that is measured. */
export interface Scenario {
  /** For `--only`. */
  readonly name: string
  readonly title: string
  /**
   * `endpoint`: any S3 server will do. `own server`: needs the data directory or the life of a server, and is left out
   * when another server is measured. `many objects`: with such a server only when `--objects` is given, since every
   * object must be sent over HTTP.
   */
  readonly needs: 'endpoint' | 'own server' | 'many objects'
  /** Adds figures to the bench one by one; whatever it throws makes the scenario fail. */
  run(bench: Bench): Promise<void>
}
