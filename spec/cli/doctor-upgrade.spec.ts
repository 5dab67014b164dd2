/** `server doctor --before-upgrade`: what the first start of a new program would meet. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import type { Finding } from '../../cli/commands/server/doctor/finding.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { DATA_FILE, ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { SCHEMA_VERSION } from '../../projections/tables/applied.ts'
import { TABLES } from '../../projections/tables/table-list.ts'
import { doctor, paths as original, root } from '../support/doctor-report.ts'
import { POSITION_ROWS } from '../support/damage/position-row.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { startManaged } from '../support/management-server.ts'

function copyOf(t: Test): StorePaths {
  const directory = join(t.testdir(), 'copy')
  cpSync(root, directory, { recursive: true, filter: (path) => !path.startsWith(original.lock) })
  return new StorePaths(directory)
}

async function findings(paths: StorePaths, environment: Record<string, string> = {}): Promise<Record<string, Finding>> {
  const all = { OBJECT_STORE_DATA_DIR: paths.root, ...environment }
  const { stdout } = await doctor(all, '--json', '--before-upgrade')
  const { checks } = JSON.parse(stdout) as { checks: Finding[] }
  return Object.fromEntries(checks.map((finding) => [finding.check, finding]))
}

test('a store of this program needs nothing, also while its server runs', async (t) => {
  const paths = copyOf(t)
  const well = {
    status: 'ok',
    detail: `their layout is that of this program (${SCHEMA_VERSION}): nothing is made again`,
  }
  const before = nodeDisk.sizeOf(join(paths.projections, DATA_FILE))
  t.match(await findings(paths), {
    'whole journal': { status: 'ok', detail: /^all \d+ records are intact$/ },
    'new projections': well,
  })
  t.equal(nodeDisk.sizeOf(join(paths.projections, DATA_FILE)), before)
  const server = await startManaged({ dataDirectory: paths.root })
  t.match(await findings(paths), { 'whole journal': { status: 'ok' }, 'new projections': well })
  await server.stop()
})

test('rows of an earlier layout are made again, where the disk has room for them', async (t) => {
  const paths = copyOf(t)
  POSITION_ROWS['of an earlier layout']?.(paths.projections)
  const versions = `their layout is ${SCHEMA_VERSION - 1}, that of this program ${SCHEMA_VERSION}: the first start makes about 1 MiB`
  t.match(await findings(paths), {
    'new projections': {
      status: 'ok',
      detail: `${versions} in projections-next/, and the old ones stay until the server accepts requests; object-store projections prepare makes them before`,
    },
  })
  const { 'new projections': full } = await findings(paths, { OBJECT_STORE_STORAGE_RESERVED_MIB: String(2 ** 20) })
  t.match(full, { status: 'failed', next: 'free some space, or use a larger disk' })
  t.ok(full?.detail.startsWith(`${versions}, and -`), 'it counts what is kept free')
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
  environment.write(() => environment.table(TABLES.applied).put(Buffer.from('position'), Buffer.alloc(8, 1)))
  await environment.close()
  t.match(await findings(paths), { 'new projections': { status: 'failed', detail: /a newer program made/ } })
  nodeDisk.removeTree(paths.projections)
  t.match(await findings(paths), { 'new projections': { status: 'skipped' } })
})

test('one damaged record of the journal fails, with what to do', async (t) => {
  const paths = copyOf(t)
  flipByte(segmentPath(paths, 0), 600)
  const { 'whole journal': whole } = await findings(paths)
  t.match(whole, {
    status: 'failed',
    detail: /^\d+ problems; the first: .*0\.segment, offset \d+: /,
    next: /storage heal --from BACKUP.*until then keep the program that runs/,
  })
})

test('a data directory without a store has nothing to look at', async (t) => {
  t.match(await findings(new StorePaths(join(t.testdir(), 'none'))), {
    'whole journal': { status: 'skipped' },
    'new projections': { status: 'skipped' },
  })
})
