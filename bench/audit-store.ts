import { fileURLToPath } from 'node:url'
import type { Children } from './children.ts'
import { FillFailedError } from './filler.ts'

const FILLER = fileURLToPath(new URL('./fill-audit.js', import.meta.url))
/** Records a second that even a slow machine writes. */
const SLOWEST_PER_SECOND = 5000
const SHORTEST_TIMEOUT_SECONDS = 60

/** What fill-audit.ts reads on standard input. */
export interface FillAudit {
  readonly dataDirectory: string
  /** Hexadecimal. */
  readonly masterKey: string
  readonly records: number
  /** Time of the first record, since 1970, not before now, and from there to the last one. */
  readonly fromMilliseconds: number
  readonly spanMilliseconds: number
}

/**
 * Fills a new data directory with audit records, in a process of its own.
 * @throws FillFailedError, ChildTimeoutError
 */
export async function fillAudit(children: Children, request: FillAudit): Promise<void> {
  const outcome = await children.run(process.execPath, [FILLER], {
    input: JSON.stringify(request),
    timeoutMilliseconds: Math.max(SHORTEST_TIMEOUT_SECONDS, request.records / SLOWEST_PER_SECOND) * 1000,
  })
  if (outcome.exitCode !== 0) throw new FillFailedError(`filling the store failed:\n${outcome.stderr.slice(-2000)}`)
}
