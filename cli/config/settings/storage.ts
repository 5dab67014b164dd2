/** The journal and the payloads on the disk. */
import type { ConfigRow } from '../config-row.ts'

const MEBIBYTES_PER_TEBIBYTE = 1024 * 1024

export const storageSettings = [
  {
    name: 'storage.inline_limit_bytes',
    kind: 'integer',
    unit: 'bytes',
    bounds: { minimum: 0, maximum: 1_048_576 },
    default: 65_536,
    sentence: 'Objects up to this size are packed into volumes; larger ones get a file each.',
  },
  {
    name: 'storage.segment_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 1, maximum: 1024 },
    default: 64,
    sentence: 'Size of a new journal segment.',
  },
  {
    name: 'storage.compress_segments',
    kind: 'boolean',
    default: true,
    sentence:
      'Whether sealed segments of the journal are compressed. Segments already compressed stay compressed, and are readable either way.',
  },
  {
    name: 'storage.compress_after_hours',
    kind: 'integer',
    unit: 'hours',
    bounds: { minimum: 0, maximum: 87_600 },
    default: 24,
    sentence: 'How long after it was sealed a segment is compressed.',
  },
  {
    name: 'storage.compress_mib_per_second',
    kind: 'integer',
    unit: 'MiB/s',
    bounds: { minimum: 1, maximum: 1024 },
    default: 16,
    sentence:
      'Maximum speed of compression: bytes of journal read per second. Each byte is read twice, once to compress it and once to verify the result.',
  },
  {
    name: 'storage.volume_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 1, maximum: 1024 },
    default: 64,
    sentence: 'Size of a new payload volume.',
  },
  {
    name: 'storage.reserved_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 0, maximum: MEBIBYTES_PER_TEBIBYTE },
    default: 256,
    sentence: 'Free space that uploads may not use, so that deletes still work when the disk is full.',
  },
  {
    name: 'storage.reference_ratio_maximum',
    kind: 'integer',
    unit: 'bytes',
    bounds: { minimum: 1, maximum: 1_000_000 },
    default: 1000,
    sentence:
      'Bytes of objects, versions and parts that a bucket may hold for each byte that it received. Beyond that, and 64 GiB, requests that store bytes by reference are refused.',
  },
  {
    name: 'storage.reclaim_uploads_after_days',
    kind: 'integer',
    unit: 'days',
    bounds: { minimum: 0, maximum: 36_500 },
    default: 7,
    sentence: 'How long after it was created a multipart upload that is still in progress is aborted. 0: never.',
  },
  {
    name: 'storage.metadata_cache_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 16, maximum: 65_536 },
    default: 128,
    sentence:
      'Size of the page cache of the metadata stores. It has no effect now: LMDB uses the page cache of the kernel. The value is still checked.',
  },
  {
    name: 'storage.encryption_enabled',
    kind: 'boolean',
    default: false,
    sentence: 'Whether new objects are encrypted on disk. Existing ones stay as they are, and are readable either way.',
  },
] as const satisfies readonly ConfigRow[]
