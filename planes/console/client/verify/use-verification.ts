import { useEffect, useRef, useState } from 'preact/hooks'
import { digestPieces } from '../../../../engine/proof/digest-pieces.ts'
import type { ProofReport } from '../../../../engine/proof/proof-report.ts'
import { BUNDLE_BYTES_MAXIMUM, verifyBundle } from '../../../../engine/proof/verify-bundle.ts'

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

/** Large enough to make reads cheap, small enough that hashing a piece drops no frame. */
const PIECE_BYTES = 1024 ** 2

/**
 * The bytes of a chosen file, one piece in memory at a time.
 * @param onProgress called with the number of bytes yielded
 * @throws Error when the file changed or cannot be read any more; the reason of `signal` when that is aborted
 */
async function* filePieces(
  file: Blob,
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; start += PIECE_BYTES) {
    signal.throwIfAborted()
    const piece = await readable(file.slice(start, start + PIECE_BYTES))
    yield piece
    onProgress(start + piece.length)
  }
}

/** All bytes of a small file, and of a large one the first `maximum`. @throws Error when it cannot be read */
function firstBytes(file: Blob, maximum: number): Promise<Uint8Array> {
  return readable(file.slice(0, maximum))
}

async function readable(part: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await part.arrayBuffer())
  } catch (error) {
    throw new Error('The file cannot be read: it was changed, moved or is a folder. Choose it again.', { cause: error })
  }
}
