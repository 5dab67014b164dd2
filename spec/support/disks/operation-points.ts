/** At which of its operations a spec has a disk fail. */
import { basename } from 'node:path'
import { everyNth } from '../share-of-cases.ts'
import type { Operation } from './fault-disk.ts'

/** What an operation does to which kind of file, such as `sync #.segment`. */
function kindOf({ name, path }: Operation): string {
  return `${name} ${basename(path).replaceAll(/[0-9a-f]{8,}|\d+/g, '#')}`
}

/**
 * Places in a list of operations, from 0, that was noted where nothing failed: every nth, and of each operation on each kind of
 * file at least one. With SPEC_FULL they are all.
 * @param nth see `strideOf`
 */
export function operationPoints(operations: readonly Operation[], nth: number): readonly number[] {
  return everyNth([...operations.keys()], nth, (at) => [kindOf(operations[at] as Operation)])
}
