/** Which faults fit an operation of a disk, and how an operation is found again in another run of the same work. */
import { relative } from 'node:path'
import { DiskFullError } from '../../../engine/disk/disk.ts'
import { type Fault, inputOutputError, type Operation, type OperationName } from '../../support/disks/fault-disk.ts'
import { ROW_OPERATIONS, type RowOperation } from './row-faults.ts'

/** The last one is that of rows, the others those of the disk. */
export const FAULT_KINDS = ['EIO', 'ENOSPC', 'short write', 'EIO, yet done', 'exception'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** The `occurrence`-th operation (from 1) of those that look alike fails, and every one after it when it `lasts`. */
export interface Target {
  readonly operation: string
  readonly occurrence: number
  readonly kind: FaultKind
  readonly lasts: boolean
}

/** Operations that may need space of the file system; the others cannot find it full. */
const NEEDS_SPACE: readonly OperationName[] = ['create', 'write', 'sync', 'make-directory', 'rename']
/** Whose errors the door puts into its own words also in the engine's thread. */
const TRANSLATED: readonly OperationName[] = ['create', 'open-to-write', 'open-to-read', 'write']

export function faultKindsOf(name: OperationName | RowOperation): readonly FaultKind[] {
  if (isOfRows(name)) return ['exception']
  if (name === 'write') return ['EIO', 'ENOSPC', 'short write', 'EIO, yet done']
  if (name === 'sync') return ['EIO', 'ENOSPC', 'EIO, yet done']
  if (name === 'seal') return ['EIO', 'EIO, yet done']
  return NEEDS_SPACE.includes(name) ? ['EIO', 'ENOSPC'] : ['EIO']
}

export function isOfRows(name: string): name is RowOperation {
  return (ROW_OPERATIONS as readonly string[]).includes(name)
}

/** What goes wrong with an operation, or undefined where this kind cannot. */
export function faultOf(kind: FaultKind, { name, bytes, later }: Operation): Fault | undefined {
  if (!faultKindsOf(name).includes(kind)) return undefined
  // The file holds what was written, and stays as it is.
  if (kind === 'EIO, yet done' && name === 'write') return { kind: 'short', bytes: bytes ?? 0 }
  if (kind === 'EIO' || kind === 'EIO, yet done') return { kind: 'error', error: inputOutputError() }
  if (kind === 'short write') return { kind: 'short', bytes: Math.floor((bytes ?? 0) / 2) }
  const system = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  const isTranslated = later === true || TRANSLATED.includes(name)
  return { kind: 'error', error: isTranslated ? new DiskFullError(system.message, { cause: system }) : system }
}

/** Names that differ from run to run, or from one segment to the next. */
const KINDS_OF_PATH: readonly (readonly [RegExp, string])[] = [
  [/^journal\/\d+\.segment$/, 'segment'],
  [/^journal\/\d+\.segment\.making$/, 'segment in the making'],
  [/^journal\/compressing-/, 'cold segment in the making'],
  [/^journal\/aside\/.*\.pending$/, 'pending evidence'],
  [/^payloads\/volumes\/\d+\.volume$/, 'volume'],
  [/^payloads\/files\/[0-9a-f]{2}$/, 'directory of payload files'],
  [/^payloads\/files\/[0-9a-f]{2}\//, 'payload file'],
  [/^payloads\/tmp\/./, 'upload'],
  [/^snapshots\/\d/, 'snapshot'],
]

/** The kind of thing that a path of a data directory names; most are the path itself. */
export function kindOfPath(root: string, path: string): string {
  const short = relative(root, path)
  return KINDS_OF_PATH.find(([pattern]) => pattern.test(short))?.[1] ?? short
}

/** What an operation is, in words that are the same in each run. */
export function describe(root: string, { name, path }: Operation): string {
  return `${name} ${kindOfPath(root, path)}`.trimEnd()
}

/** Every way in which the operations of a run could have failed. An engine does nothing after a row that failed: those fail once. */
export function targetsOf(operations: readonly string[]): Target[] {
  const counts = new Map<string, number>()
  return operations.flatMap((operation) => {
    const occurrence = (counts.get(operation) ?? 0) + 1
    counts.set(operation, occurrence)
    const name = operation.split(' ')[0] as OperationName | RowOperation
    const ways = isOfRows(name) ? [false] : [false, true]
    return faultKindsOf(name).flatMap((kind) => ways.map((lasts) => ({ operation, occurrence, kind, lasts })))
  })
}

export function nameOfTarget({ operation, occurrence, kind, lasts }: Target): string {
  return `${kind} at ${operation} ${occurrence}, ${lasts ? 'for ever' : 'once'}`
}
