import type { BaseContext } from 'clipanion'
import type { ProcessControl } from './server/process-control.ts'
import type { StartServer } from './server/running-server.ts'

/** The parts of its environment that a command uses. */
export type CliContext = BaseContext & {
  /** The environment as it was when the process started. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Base of relative paths. */
  readonly workingDirectory: string
  readonly control: ProcessControl
  /** Replaces the composition root in specs. */
  readonly startServer?: StartServer
}
