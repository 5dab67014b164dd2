/** Values of the engine with plain numbers where it has branded ones, so that specs can write literals. */
import type {
  BucketId,
  Microseconds,
  Milliseconds,
  PayloadId,
  Sequence,
  UploadId,
  VolumeNumber,
} from '../../engine/brands.ts'

type Branded = BucketId | Microseconds | Milliseconds | PayloadId | Sequence | UploadId | VolumeNumber

/** `T` with numbers in the place of brands, all the way down. */
export type Plain<T> = T extends Branded
  ? number
  : T extends Uint8Array | ((...parameters: never[]) => unknown)
    ? T
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T

/** The value as the engine takes it: nothing is done at run time. */
export function branded<T>(value: Plain<NoInfer<T>>): T {
  return value as unknown as T
}
