import type { Readable } from 'node:stream'

/** What waits in a stream, as text. Node 26 reads one piece at a time, earlier versions all of them. */
export function waitingText(stream: Readable): string {
  const pieces: Buffer[] = []
  for (let piece = stream.read() as Buffer | null; piece !== null; piece = stream.read() as Buffer | null) {
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
