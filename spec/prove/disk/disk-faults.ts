/** Faults of a disk while a store works on it. */
import {
  type Fault,
  FaultDisk,
  inputOutputError,
  noSpaceError,
  type Operation,
} from '../../support/disks/fault-disk.ts'
import type { Random } from '../../support/random.ts'
import { byChance } from '../simulated-disk/crash-choices.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import type { FaultKind } from './life-plans.ts'

/** Operations that make the bytes of a file durable. */
export const SYNCS: ReadonlySet<string> = new Set(['sync', 'seal'])
const NEEDS_ROOM = new Set(['create', 'write', 'make-directory'])
const HARMLESS = new Set(['close', 'read', 'open-to-read', 'open-to-write', 'remove-tree'])
const WITHIN = 40

const ROOM_BYTES = 40_000

type Rule = (operation: Operation, disk: SimulatedDisk, random: Random) => Fault | undefined

const RULES: Readonly<Record<FaultKind, Rule>> = {
  'error once': ({ name }) => (HARMLESS.has(name) ? undefined : { kind: 'error', error: inputOutputError() }),
  'error for ever': ({ name }) => (HARMLESS.has(name) ? undefined : { kind: 'error', error: inputOutputError() }),
  'sync that fails': ({ name }) => (SYNCS.has(name) ? { kind: 'error', error: inputOutputError() } : undefined),
  'sync that lies': ({ name, path }, disk, random) => {
    if (!SYNCS.has(name)) return undefined
    disk.failSync(path, byChance(random))
    return { kind: 'error', error: inputOutputError() }
  },
  'short write': ({ name, bytes = 0 }, _disk, random) =>
    name === 'write' && bytes > 1 ? { kind: 'short', bytes: 1 + random.below(bytes - 1) } : undefined,
  'disk full': ({ name }) => (NEEDS_ROOM.has(name) ? { kind: 'error', error: noSpaceError() } : undefined),
}

const LASTING: ReadonlySet<FaultKind> = new Set(['error for ever', 'disk full'])

/** The disk with faults of one kind, from an operation on that chance picks. */
export class FaultyDisk {
  readonly disk: FaultDisk
  /** Faults so far. */
  count = 0
  /** Asked before each operation; what it throws takes its place. */
  before: (operation: Operation) => void = () => undefined

  constructor(disk: SimulatedDisk) {
    this.disk = new FaultDisk(disk)
    this.disarm()
  }

  disarm(): void {
    this.disk.fault = (operation) => {
      this.before(operation)
      return undefined
    }
  }

  /** @param within so many operations of its kind it happens */
  arm(kind: FaultKind, disk: SimulatedDisk, random: Random, within: number = WITHIN): void {
    if (kind === 'disk full' && random.below(2) === 0) {
      // It fills up in the middle of a write.
      disk.roomBytes = random.below(ROOM_BYTES)
      this.count = 1
      return
    }
    let left = 1 + random.below(within)
    this.disk.fault = (operation) => {
      this.before(operation)
      if (left <= 0 && !LASTING.has(kind)) return undefined
      // Deciding a fault may change the disk, so it is decided only when it happens.
      if (left > 1) {
        if (RULES[kind](operation, NOWHERE, random) !== undefined) left -= 1
        return undefined
      }
      const fault = RULES[kind](operation, disk, random)
      if (fault === undefined) return undefined
      left -= 1
      this.count += 1
      return fault
    }
  }
}

/** Takes the fault of an operation that is only counted. */
const NOWHERE = { failSync: () => undefined } as unknown as SimulatedDisk
