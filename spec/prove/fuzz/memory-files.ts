/** Files that are bytes in memory, for readers that read files. */
import { createHash } from 'node:crypto'
import type { SegmentWindow } from '../../../engine/verify/segment-window.ts'
import type { DiskFile } from '../../../engine/disk/disk.ts'

function never(): never {
  throw new Error('a reader writes')
}

/** A file that can be read. */
export function memoryFile(bytes: Buffer): DiskFile {
  const readAt = (target: Uint8Array, position: number, length: number): number => {
    const part = bytes.subarray(position, position + Math.max(0, Math.min(length, target.length)))
    target.set(part)
    return part.length
  }
  return {
    path: 'memory',
    readAt,
    readAtAsync: async (target, position, length) => readAt(target, position, length),
    size: () => bytes.length,
    close: () => undefined,
    closeAsync: async () => undefined,
    writeAt: never,
    writeAtAsync: never,
    sync: never,
    syncAsync: never,
    truncate: never,
    seal: never,
  }
}

/** What the verifier looks at a segment through, over the whole of it. */
export class MemoryWindow implements Pick<SegmentWindow, keyof SegmentWindow> {
  bytes: Buffer
  memory: Uint8Array
  words: Uint32Array
  base = 0
  size: number
  readonly isCold = false
  readonly faults = []

  constructor(segment: Buffer) {
    const memory = new ArrayBuffer(Math.ceil(segment.length / 8) * 8)
    this.bytes = Buffer.from(memory)
    this.memory = new Uint8Array(memory)
    this.words = new Uint32Array(memory)
    this.bytes.set(segment)
    this.size = segment.length
  }

  close(): void {}

  settle(): void {}

  refresh(): void {}

  ensure(offset: number, length: number): boolean {
    return offset + length <= this.size
  }

  digestBefore(offset: number): string {
    return createHash('sha256').update(this.bytes.subarray(0, offset)).digest('hex')
  }

  scan(
    offset: number,
    _overlap: number,
    look: (piece: Buffer, offset: number) => number | undefined,
  ): number | undefined {
    return offset < this.size ? look(this.bytes.subarray(offset, this.size), offset) : undefined
  }
}
