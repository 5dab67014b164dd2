/** The row of the position in closed projections, with another byte in it and the sum that it had. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_FILE } from '../../../projections/lmdb-environment.ts'
import { SCHEMA_VERSION } from '../../../projections/tables/applied.ts'

const KEY = Buffer.from('position')

function edit(directory: string, at: number, byte: (was: number) => number): void {
  const path = join(directory, DATA_FILE)
  const file = readFileSync(path)
  // Pages that are no longer in use have copies.
  for (let row = file.indexOf(KEY); row >= 0; row = file.indexOf(KEY, row + 1)) {
    const place = row + KEY.length + at
    file[place] = byte(file[place] as number)
  }
  writeFileSync(path, file)
}

export const POSITION_ROWS: Readonly<Record<string, (directory: string) => void>> = {
  'of an earlier layout': (directory) => edit(directory, 7, () => SCHEMA_VERSION - 1),
  'with a flipped bit': (directory) => edit(directory, 15, (was) => was ^ 1),
}
