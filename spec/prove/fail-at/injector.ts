import type { FaultDisk, Operation } from '../../support/disks/fault-disk.ts'
import { describe, faultOf, kindOfPath, type Target } from './faults.ts'
import { listenToRows, RowFault } from './row-faults.ts'

/** What of the store must not fail unnoticed: a failed write, sync or name of it is told to somebody. */
const MUST_BE_TOLD =
  /^(segment|segment in the making|journal\/rewrite|journal\/HEAD|volume|upload|pending evidence|directory of payload files)$/

/** Arms a disk, and the rows of this thread, with one fault, and watches what becomes of the file that met it. */
export class Injector {
  /** What was done while it was armed. */
  readonly operations: string[] = []
  /** Faults that took place. */
  injected = 0
  /** Whether one of them may not pass in silence. */
  mustBeTold = false
  /** Files that were written or synced again after a sync of them had failed. */
  readonly touchedAgain: string[] = []
  readonly #root: string
  readonly #target: Target | undefined
  readonly #lose: (path: string) => void
  readonly #poisoned = new Set<string>()
  #seen = 0

  /** @param lose is called when a sync of the file under a name fails */
  constructor(root: string, target: Target | undefined, lose: (path: string) => void) {
    this.#lose = lose
    this.#root = root
    this.#target = target
  }

  arm(disk: FaultDisk): void {
    disk.fault = (operation) => {
      this.operations.push(describe(this.#root, operation))
      this.#watch(operation)
      const isDue = this.#isDue(describe(this.#root, operation))
      const fault = isDue ? faultOf(this.#target?.kind ?? 'EIO', operation) : undefined
      if (fault !== undefined) this.#note(operation)
      return fault
    }
    listenToRows((name, table) => this.#passRow(`${name} ${table}`.trimEnd()))
  }

  /** The disk is whole again; what must not be touched is still watched. */
  disarm(disk: FaultDisk): void {
    listenToRows(undefined)
    disk.fault = (operation) => {
      this.#watch(operation)
      return undefined
    }
  }

  /** @throws RowFault where a row is to fail; somebody must be told of it */
  #passRow(operation: string): void {
    this.operations.push(operation)
    if (this.#target?.kind !== 'exception' || !this.#isDue(operation)) return
    this.injected += 1
    this.mustBeTold = true
    throw new RowFault(`a fault at ${operation}`)
  }

  #isDue(operation: string): boolean {
    const target = this.#target
    if (target === undefined) return false
    if (this.injected > 0) return target.lasts
    if (operation !== target.operation) return false
    this.#seen += 1
    return this.#seen === target.occurrence
  }

  #note({ name, path }: Operation): void {
    this.injected += 1
    const changes = !['open-to-read', 'read', 'close', 'remove', 'exists', 'list', 'size'].includes(name)
    if (changes && MUST_BE_TOLD.test(kindOfPath(this.#root, path)) && !this.#hasAnotherWay(name, path)) {
      this.mustBeTold = true
    }
    if (name !== 'sync' && name !== 'seal') return
    this.#poisoned.add(path)
    if (this.#target?.kind !== 'EIO, yet done') this.#lose(path)
  }

  /** A segment is rewritten in its place where the disk has no space for a copy (spec/decisions/0013). */
  #hasAnotherWay(name: Operation['name'], path: string): boolean {
    const needsSpace = name === 'create' || name === 'write'
    return needsSpace && this.#target?.kind !== 'EIO' && kindOfPath(this.#root, path) === 'journal/rewrite'
  }

  /** A file that is made anew under the name is another one. */
  #watch({ name, path }: Operation): void {
    if (name === 'create') this.#poisoned.delete(path)
    if (!['write', 'sync', 'seal', 'truncate'].includes(name) || !this.#poisoned.has(path)) return
    this.touchedAgain.push(describe(this.#root, { name, path }))
  }
}
