/** A process that prepares projections, and is killed when it has read a number of chunks: `node make-prepared.js ROOT CHUNKS`. */
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { keysOf } from '../../cli/access/access-keys.ts'
import { prepareProjections } from '../../projections/prepare-projections.ts'
import { BOOT_ID, MASTER_KEY } from './test-store.ts'

const [root = '', chunks] = process.argv.slice(2)
const paths = new StorePaths(root)
let left = Number(chunks)
await prepareProjections(nodeDisk, paths, {
  bootId: BOOT_ID,
  keys: keysOf(nodeDisk, paths, MASTER_KEY),
  reservedBytes: 0,
  aheadFromBytes: 0,
  rowsMaximum: 1500,
  progress: () => {
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  },
})
