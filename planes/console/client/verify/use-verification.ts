import { useEffect, useRef, useState } from 'preact/hooks'
import { digestPieces } from '../../../../engine/proof/digest-pieces.ts'
import type { ProofReport } from '../../../../engine/proof/proof-report.ts'
import { BUNDLE_BYTES_MAXIMUM, verifyBundle } from '../../../../engine/proof/verify-bundle.ts'
import { filePieces, firstBytes } from './file-pieces.ts'

/** The user's input to a verification. */
export interface Given {
  readonly file: File
  readonly bundle: File
  /** Public key to expect; empty when the user gave none. */
  readonly key: string
}

interface Outcome {
  readonly report?: ProofReport
  readonly problem?: string
}

interface Verification extends Outcome {
  /** Bytes of the file hashed so far; undefined while no verification runs. */
  readonly done: number | undefined
  readonly verify: (given: Given) => Promise<void>
  /** Stops a running verification and removes its result. */
  readonly stop: () => void
}

/** Runs one verification at a time; it stops with the screen. */
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
    // One byte more than allowed, so that the verifier detects a bundle that is too large.
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
