/** The command as an operator runs it, in a process that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { environment } from '../../../cli/environment.ts'
import { MASTER_KEY } from '../../support/test-clients.ts'

const PROGRAM = fileURLToPath(new URL('../../../../cli/object-store.mjs', import.meta.url))

export interface CommandEnd {
  /** Null when it was killed. */
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** Runs a command to its end. `spawned` may kill it. */
export async function runCommand(
  words: readonly string[],
  spawned: (process: ChildProcess) => void = () => undefined,
): Promise<CommandEnd> {
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: environment['PATH'],
      NODE_OPTIONS: '',
      OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
      OBJECT_STORE_ROOT_ACCESS_KEY: 'ROOTACCESSKEY',
      OBJECT_STORE_ROOT_SECRET_KEY: 'the+secret/key-of-the-specs',
      OBJECT_STORE_S3_BIND: '127.0.0.1:0',
      OBJECT_STORE_API_BIND: '127.0.0.1:0',
      OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:0',
    },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (piece: Buffer) => {
    output += piece.toString()
  })
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece.toString()
  })
  spawned(child)
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  return { code, output, errors }
}

/** Kills a process after a time, unless it has ended. */
export function killAfter(milliseconds: number): (process: ChildProcess) => void {
  return (child) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds)
    child.once('exit', () => clearTimeout(timer))
  }
}
