import type { BaseContext } from 'clipanion'
import type { ProcessControl } from './process-control.ts'
import type { StartServer } from './running-server.ts'

/** What every command may use of the world around it. */
export type CliContext = BaseContext & {
  /** The environment as it was when the process started. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** What relative paths begin from. */
  readonly workingDirectory: string
  readonly control: ProcessControl
  /** In the place of the composition root. */
  readonly startServer?: StartServer
}
