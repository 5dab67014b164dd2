/** The rows of the projections as something that can fail: the tables and the environment are changed from outside. */
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'

/** What is done with rows, in the order in which a batch does it. */
export const ROW_OPERATIONS = ['put-row', 'remove-row', 'commit-rows'] as const
export type RowOperation = (typeof ROW_OPERATIONS)[number]

/** What an exception while rows are written is told as. */
export class RowFault extends RangeError {}

/** Called before each operation with the table that it concerns; what it throws the operation throws. */
export type RowListener = (name: RowOperation, table: string) => void

let listener: RowListener | undefined

/** Sets who is asked before rows are written or committed in this thread; undefined: nobody. */
export function listenToRows(asked: RowListener | undefined): void {
  listener = asked
}

const { table: openTable, write } = ProjectionEnvironment.prototype

ProjectionEnvironment.prototype.table = function (name) {
  const table = openTable.call(this, name)
  const { put, append, remove } = table
  return Object.assign(table, {
    put: (key: Buffer, value: Buffer) => {
      listener?.('put-row', name)
      put.call(table, key, value)
    },
    append: (key: Buffer, value: Buffer) => {
      listener?.('put-row', name)
      append.call(table, key, value)
    },
    remove: (key: Buffer) => {
      listener?.('remove-row', name)
      remove.call(table, key)
    },
  })
}

// What is thrown here is thrown when all rows are written: the transaction is rolled back, as by a commit that fails.
ProjectionEnvironment.prototype.write = function <T>(work: () => T): T {
  return write.call(this, () => {
    const result = work()
    listener?.('commit-rows', '')
    return result
  }) as T
}
