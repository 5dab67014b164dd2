/**
 * A type for each meaning of a number, so that one cannot be passed where another is expected. At run time they are plain
 * numbers. They are made only where a file, a message or a setting is decoded, a clock is read, or the next one is
 * counted.
 */

declare const brand: unique symbol

type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** The number of a record in the journal; the first, the genesis, is 0. */
export type Sequence = Brand<number, 'Sequence'>

/** A bucket for all its life: the sequence of the entry that created it. */
export type BucketId = Brand<number, 'BucketId'>

/** The bytes of one object or part: the sequence of the entry that stored them, or that created their upload. */
export type PayloadId = Brand<number, 'PayloadId'>

/** A multipart upload: the sequence of the entry that created it. */
export type UploadId = Brand<number, 'UploadId'>

/** A volume file, by its number; the first is 0. */
export type VolumeNumber = Brand<number, 'VolumeNumber'>

/** Since 1970 where it is a time, and otherwise a length of time. */
export type Milliseconds = Brand<number, 'Milliseconds'>

/** Since 1970 where it is a time, and otherwise a length of time. */
export type Microseconds = Brand<number, 'Microseconds'>

export const sequenceOf = (value: number): Sequence => value as Sequence
export const bucketIdOf = (value: number): BucketId => value as BucketId
export const payloadIdOf = (value: number): PayloadId => value as PayloadId
export const uploadIdOf = (value: number): UploadId => value as UploadId
export const volumeNumberOf = (value: number): VolumeNumber => value as VolumeNumber
export const millisecondsOf = (value: number): Milliseconds => value as Milliseconds
export const microsecondsOf = (value: number): Microseconds => value as Microseconds

/** The sequence after this one. */
export function next(sequence: Sequence): Sequence {
  return (sequence + 1) as Sequence
}

/** The sequence before this one. */
export function previous(sequence: Sequence): Sequence {
  return (sequence - 1) as Sequence
}
