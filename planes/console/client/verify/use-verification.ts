import { useEffect, useRef, useState } from 'preact/hooks'
import { digestPieces } from '../../../../engine/proof/digest-pieces.ts'
import type { ProofReport } from '../../../../engine/proof/proof-report.ts'
import { BUNDLE_BYTES_MAXIMUM, verifyBundle } from '../../../../engine/proof/verify-bundle.ts'
import { filePieces, firstBytes } from './file-pieces.ts'

/** What a person gives to check. */
export interface Given {
  readonly file: File
  readonly bundle: File
  /** Empty: nobody said whose key it is. */
  readonly key: string
}

interface Outcome {
  readonly report?: ProofReport
  readonly problem?: string
}

interface Verification extends Outcome {
  /** Bytes of the file that were hashed; undefined while nothing is verified. */
  readonly done: number | undefined
  readonly verify: (given: Given) => Promise<void>
  /** Ends what runs and forgets what it found. */
  readonly stop: () => void
}

/** One check at a time. What runs ends with the screen. */
export function useVerification(): Verification {
  const [outcome, setOutcome] = useState<Outcome>({})
  const [done, setDone] = useState<number>()
  const running = useRef<AbortController | undefined>(undefined)
  const stop = () => {
    running.current?.abort()
    setOutcome({})
  }
  useEffect(() => () => running.current?.abort(), [])
  const verify = async (given: Given) => {
    const control = new AbortController()
    running.current = control
    setOutcome({})
    setDone(0)
    const found = await outcomeOf(given, setDone, control.signal)
    setDone(undefined)
    if (!control.signal.aborted) setOutcome(found)
  }
  return { ...outcome, done, verify, stop }
}

async function outcomeOf(
  { file, bundle, key }: Given,
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    // One byte more than allowed, so that the verifier sees that there are too many.
    const bytes = await firstBytes(bundle, BUNDLE_BYTES_MAXIMUM + 1)
    const report = await verifyBundle(bytes, {
      digestFile: () => digestPieces(filePieces(file, onProgress, signal)),
      ...(key === '' ? {} : { expectedPublicKey: key }),
    })
    return { report }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
