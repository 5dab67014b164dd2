import type { PayloadId } from '../brands.ts'
import type { DiskFile } from '../disk/disk.ts'
import { ZeroedFile } from '../disk/unreadable.ts'
import { decodeFrameHeader, FRAME_HEADER, frameBytes, VOLUME_HEADER } from './volume-format.ts'

/** A payload in a volume, whether anything refers to it or not. */
export interface VolumeFrame {
  readonly payload: PayloadId
  /** Where the bytes begin in the volume. */
  readonly offset: number
  /** Valid until the next frame. */
  readonly bytes: Buffer
  /** CRC-32 that the bytes should have. */
  readonly checksum: number
}

/** A volume cannot be read further: the bytes there are not a frame. */
export class VolumeDamagedError extends Error {
  override readonly name = 'VolumeDamagedError'
}

const READ_BYTES = 1 << 20

/**
 * The frames of a volume in order, up to `end`, the end of the last payload that was ever referred to.
 * @throws VolumeDamagedError
 */
export async function* volumeFrames(file: DiskFile, end: number): AsyncGenerator<VolumeFrame> {
  // What the disk cannot read is no frame, or has another checksum.
  const readable = new ZeroedFile(file)
  let window = Buffer.alloc(0)
  let windowStart = 0
  let position: number = VOLUME_HEADER.bytes
  const at = async (start: number, length: number): Promise<Buffer> => {
    if (start < windowStart || start + length > windowStart + window.length) {
      window = Buffer.allocUnsafe(Math.max(length, READ_BYTES))
      windowStart = start
      window = window.subarray(0, await readable.readAtAsync(window, start, window.length))
    }
    return window.subarray(start - windowStart, start - windowStart + length)
  }
  while (position < end) {
    const header = decodeFrameHeader(await at(position, FRAME_HEADER.bytes))
    if (header === undefined) throw new VolumeDamagedError(`${file.path}, offset ${position}: there is no frame`)
    const offset = position + FRAME_HEADER.bytes
    const bytes = await at(offset, header.length)
    if (bytes.length !== header.length) throw new VolumeDamagedError(`${file.path}, offset ${offset}: it ends here`)
    yield { payload: header.payload, offset, bytes, checksum: header.checksum }
    position += frameBytes(header.length)
  }
}
