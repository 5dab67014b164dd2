/**
 * Makes spec/golden/journal-v1. Run by hand and once: `node build/spec/support/make-golden.js <empty directory>`. What
 * it made is history; a later version of the program must read it, so it is never made again.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { OpaqueIds } from '../../engine/opaque-ids.ts'
import { Engine } from '../../engine/engine.ts'
import { EngineLoop } from '../../engine/engine-loop.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { Journal } from '../../engine/journal/journal.ts'
import { LocalEngineClient } from '../../engine/local-client.ts'
import { SpaceGuard } from '../../engine/payloads/space-guard.ts'
import { VolumeWriter } from '../../engine/payloads/volume-writer.ts'
import { openProjections } from '../../projections/open-projections.ts'
import { replay } from '../../projections/replay.ts'
import { derivedKey, masterKeyCheck, VERSION_ID_KEY } from '../../cli/store/master-key-check.ts'
import {
  GOLDEN_BOOT_ID,
  GOLDEN_DEPLOYMENT,
  GOLDEN_MASTER_KEY,
  GOLDEN_SEGMENT_BYTES,
  GOLDEN_TIME,
  liveGoldenHistory,
} from './golden-history.ts'

const ZEROS_BEHIND = 512

/** Every look at the clock is one millisecond later. */
function fixedClock(): () => number {
  let now = GOLDEN_TIME
  return () => (now += 1000)
}

async function makeGolden(root: string): Promise<unknown> {
  const paths = new StorePaths(root)
  for (const path of [paths.journal, paths.volumes]) nodeDisk.makeDirectory(path)
  const head = HeadFile.open(nodeDisk, paths)
  const { environment, state } = await openProjections(nodeDisk, paths, undefined)
  const genesis = {
    deploymentId: GOLDEN_DEPLOYMENT,
    masterKeyCheck: masterKeyCheck(GOLDEN_MASTER_KEY, GOLDEN_DEPLOYMENT),
  }
  const journal = Journal.create(nodeDisk, paths, { segmentBytes: GOLDEN_SEGMENT_BYTES }, genesis, GOLDEN_TIME)
  replay(nodeDisk, paths, environment, undefined)
  const space = new SpaceGuard(nodeDisk, root, 0)
  const volumes = new VolumeWriter(nodeDisk, paths, { volumeBytes: 64 * 1024 }, space, undefined)
  const engine = new Engine({
    journal,
    volumes,
    state,
    clock: fixedClock(),
    versionIds: new OpaqueIds(derivedKey(GOLDEN_MASTER_KEY, VERSION_ID_KEY, journal.deploymentId)),
    clockToleranceMicroseconds: 5_000_000,
  })
  const loop = new EngineLoop(engine, {
    onReleased: () => undefined,
    onFailure: (error) => {
      throw error
    },
    onBatchDone: () => undefined,
  })
  const client = new LocalEngineClient(loop)
  head.write({ ...journal.position, clean: false, bootId: GOLDEN_BOOT_ID })
  const golden = await liveGoldenHistory((command) => client.execute(command))
  head.write({ ...journal.position, clean: true, bootId: GOLDEN_BOOT_ID })
  const { sequence, batch, head: hash } = journal.position
  const dataEnd = journal.place
  await volumes.close()
  await journal.close()
  head.close()
  await environment.close()
  const open = paths.segment(dataEnd.segmentFirstSequence)
  const data = readFileSync(open).subarray(0, dataEnd.offset)
  writeFileSync(open, Buffer.concat([data, Buffer.alloc(ZEROS_BEHIND)]))
  return { head: { sequence, batch, hash: Buffer.from(hash).toString('hex') }, ...golden }
}

const [target] = parseArgs({ allowPositionals: true }).positionals
if (target === undefined) throw new Error('name the directory to make')
const root = mkdtempSync(join(tmpdir(), 'golden-'))
const expected = await makeGolden(root)
mkdirSync(join(target, 'journal'), { recursive: true })
for (const name of readdirSync(join(root, 'journal'))) {
  copyFileSync(join(root, 'journal', name), join(target, 'journal', name))
}
writeFileSync(join(target, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
rmSync(root, { recursive: true })
