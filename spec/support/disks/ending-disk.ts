import { FaultDisk, type Operation } from './fault-disk.ts'

/** Spares are made in the background, so operations on them cannot be counted. */
function isSpare({ path }: Operation): boolean {
  return /(spare|reserve)$/.test(path)
}

/** A disk on which everything fails after so many operations, as if the process had ended there. */
export class EndingDisk extends FaultDisk {
  /** Whether an operation has failed. */
  hasEnded = false
  #left: number

  constructor(operations = Number.POSITIVE_INFINITY) {
    super()
    this.#left = operations
    this.fault = (operation) => (this.#fails(operation) ? { kind: 'error', error: new Error('crash') } : undefined)
  }

  /** The operations so far that were counted. */
  get counted(): readonly Operation[] {
    return this.operations.filter((operation) => operation.name !== 'close' && !isSpare(operation))
  }

  /** The system closes what is open. */
  #fails(operation: Operation): boolean {
    if (operation.name === 'close' || (isSpare(operation) && operation.name === 'remove')) return false
    if (!isSpare(operation)) this.#left -= 1
    if (this.#left < 0) this.hasEnded = true
    return this.hasEnded
  }
}
