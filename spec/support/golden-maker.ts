/** Makes the store of a golden journal: fixed clock, fixed identity, one command after the other. */
import { readFileSync, writeFileSync } from 'node:fs'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { Engine } from '../../engine/engine.ts'
import { EngineLoop } from '../../engine/engine-loop.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { Journal } from '../../engine/journal/journal.ts'
import { LocalEngineClient } from '../../engine/local-client.ts'
import { OpaqueIds } from '../../engine/opaque-ids.ts'
import { SpaceGuard } from '../../engine/payloads/space-guard.ts'
import { VolumeWriter } from '../../engine/payloads/volume-writer.ts'
import { CatalogReader } from '../../projections/catalog-reader.ts'
import { openProjections } from '../../projections/open-projections.ts'
import { replay } from '../../projections/replay.ts'
import { derivedKey, masterKeyCheck, VERSION_ID_KEY } from '../../cli/store/master-key-check.ts'
import {
  type Execute,
  GOLDEN_BOOT_ID,
  GOLDEN_DEPLOYMENT,
  GOLDEN_MASTER_KEY,
  GOLDEN_SEGMENT_BYTES,
  GOLDEN_TIME,
} from './golden-history.ts'

const ZEROS_BEHIND = 512

/** A life of a store, and what it must lead to. */
export interface GoldenLife<T> {
  readonly volumeBytes: number
  readonly live: (execute: Execute, catalog: CatalogReader) => Promise<T>
}

export interface GoldenHead {
  readonly sequence: number
  readonly batch: number
  /** In hexadecimal. */
  readonly hash: string
}

/** Every look at the clock is one millisecond later. */
function fixedClock(): () => number {
  let now = GOLDEN_TIME
  return () => (now += 1000)
}

/** Lives a life in an empty directory; gives what it leads to and where the journal ends. */
export async function makeGolden<T>(root: string, life: GoldenLife<T>): Promise<{ readonly head: GoldenHead } & T> {
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
  const volumes = new VolumeWriter(nodeDisk, paths, { volumeBytes: life.volumeBytes }, space, undefined)
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
  const golden = await life.live((command) => client.execute(command), new CatalogReader(environment))
  head.write({ ...journal.position, clean: true, bootId: GOLDEN_BOOT_ID })
  const { sequence, batch, head: hash } = journal.position
  const dataEnd = journal.place
  for (const part of [volumes, journal, head, environment]) await part.close()
  const open = paths.segment(dataEnd.segmentFirstSequence)
  const data = readFileSync(open).subarray(0, dataEnd.offset)
  writeFileSync(open, Buffer.concat([data, Buffer.alloc(ZEROS_BEHIND)]))
  return { head: { sequence, batch, hash: Buffer.from(hash).toString('hex') }, ...golden }
}
