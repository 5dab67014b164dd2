import { useEffect, useRef, useState } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import { persistently } from '../../api/connection.ts'

type Span = Answer<'GET /audit/chain'>
export type Problem = Span['problems'][number]

/** Records per request: the server's maximum. */
const SPAN_RECORDS = 10_000
/** Maximum number of problems shown; a journal with more needs the offline verifier. */
const PROBLEMS_MAXIMUM = 1000

/** Progress and findings of recomputing the chain. */
export interface ChainState {
  readonly checked: number
  readonly verified: number
  readonly headSequence: number
  readonly headHash: string
  readonly problems: readonly Problem[]
  /** Whether all records up to the head were read. */
  readonly complete: boolean
}

interface Chain {
  readonly state: ChainState | undefined
  readonly running: boolean
  readonly error: unknown
  readonly verify: () => Promise<void>
  readonly stop: () => void
}

/**
 * Recomputes the whole chain at the server, span by span, up to the head or until stopped; waits for an unreachable
 * server.
 */
export function useChain(): Chain {
  const [state, setState] = useState<ChainState>()
  const [running, setRunning] = useState(false)
  const [error, setError] = useState<unknown>()
  const control = useRef<AbortController | undefined>(undefined)
  const stop = () => control.current?.abort()
  useEffect(() => stop, [])
  const verify = async () => {
    const started = new AbortController()
    control.current = started
    setError(undefined)
    setState(undefined)
    setRunning(true)
    try {
      await readChain(setState, started.signal)
    } catch (failure) {
      if (!started.signal.aborted) setError(failure)
    }
    setRunning(false)
  }
  return { state, running, error, verify, stop }
}

async function readChain(show: (state: ChainState) => void, signal: AbortSignal): Promise<void> {
  let from: number | null = 0
  let [checked, verified] = [0, 0]
  const problems: Problem[] = []
  while (from !== null) {
    const query = { from, limit: SPAN_RECORDS }
    const span: Span = await persistently(() => call('GET /audit/chain', { query }, signal), signal)
    checked += span.checked
    verified += span.verified
    problems.push(...span.problems.slice(0, PROBLEMS_MAXIMUM - problems.length))
    from = span.next_from
    const { head_sequence: headSequence, head_hash: headHash } = span
    show({ checked, verified, headSequence, headHash, problems: [...problems], complete: from === null })
  }
}
