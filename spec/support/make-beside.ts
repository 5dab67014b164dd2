/** A process that makes projections beside those in place, and is killed when it has read a number of chunks: `node make-beside.js ROOT CHUNKS`. */
import { systemMilliseconds } from '../../engine/clock.ts'
import { AccessAuthentication } from '../../engine/access/access-authentication.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { keysOf } from '../../cli/access/access-keys.ts'
import { AccessSeal } from '../../projections/apply/access-seal.ts'
import { openProjections } from '../../projections/open-projections.ts'
import { replay } from '../../projections/replay/replay.ts'
import { BOOT_ID, MASTER_KEY } from './test-store.ts'

const [root = '', chunks] = process.argv.slice(2)
const paths = new StorePaths(root)
const keys = keysOf(nodeDisk, paths, MASTER_KEY)
const { environment, state } = await openProjections(nodeDisk, paths, {
  bootId: BOOT_ID,
  hasJournal: true,
  distrusted: undefined,
  wasClean: true,
  now: systemMilliseconds(),
  identity: { rowKey: keys.accessRows, deploymentId: '' },
})
process.stdout.write(String(state.applied()?.sequence ?? -1))
let left = Number(chunks)
replay(nodeDisk, paths, environment, state.applied(), {
  aheadFromBytes: 0,
  rowsMaximum: 1500,
  access: new AccessAuthentication(keys),
  seal: new AccessSeal(environment, keys.accessRows),
  progress: () => {
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  },
})
