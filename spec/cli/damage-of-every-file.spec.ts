/**
 * One flipped byte in each kind of file of a data directory, under each command that reads it with a server on it: all else is
 * shown, the damage is named, and exit codes say so. What no reader sees today has a case that says why.
 */
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { DAMAGE_CASES, type DamageCase } from '../support/damage/damage-cases.ts'
import { kindOfFile, KINDS_OF_FILES } from '../support/damage/kinds-of-files.ts'
import { ALL_READ, checkOf, readingsOf } from '../support/damage/readers.ts'
import { makeStoreOfEveryFile, SEGMENT_BYTES } from '../support/damage/store-of-every-file.ts'
import { flipByteInPlace } from '../support/journal-files.ts'
import { type ManagedServer, startManaged } from '../support/management-server.ts'
import { everyNth } from '../support/share-of-cases.ts'
import { MASTER_KEY } from '../support/test-store.ts'

/** Of the cases, without SPEC_FULL, one of so many is tried. */
const NTH = 13

function filesIn(root: string): string[] {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => !each.isDirectory())
  return found.map((each) => join(each.parentPath, each.name).slice(root.length + 1))
}

async function startOn(root: string): Promise<ManagedServer | string> {
  const options = { dataDirectory: root, masterKey: MASTER_KEY, segmentBytes: SEGMENT_BYTES }
  return startManaged(options).catch((error: Error) => error.name)
}

/** What the start and the readers say. */
async function saidOn(server: ManagedServer | string): Promise<object> {
  if (typeof server === 'string') return { start: server }
  try {
    const { discardedProjections, refusedSnapshots } = server.store.report
    const said = [discardedProjections, ...refusedSnapshots.map(({ reason }) => reason)].filter(Boolean).join('; ')
    const readings = await readingsOf(server)
    const faults = server.failures
      .map((error) => (error as Error).name)
      .filter((name) => name !== 'PayloadDamagedError')
    return { start: said === '' ? 'opens' : said, ...readings, faults, undocumented: server.undocumented }
  } finally {
    await server.stop()
  }
}

async function tried(t: Test, made: string, { when, at }: DamageCase): Promise<object> {
  const root = join(t.testdir(), 'data')
  cpSync(made, root, { recursive: true })
  const paths = new StorePaths(root)
  if (when === 'stopped') {
    flipByteInPlace(...(await at(paths)))
    const check = await checkOf(root)
    return { check, ...(await saidOn(await startOn(root))) }
  }
  const place = await at(paths)
  const server = await startOn(root)
  flipByteInPlace(...place)
  const first = await saidOn(server)
  const again = await startOn(root)
  if (typeof again === 'string') return { ...first, again }
  await again.stop()
  return { ...first, again: 'opens' }
}

/** Matched against what was found: a start that failed has no readings. */
function expected({ when, start = 'opens', differs, check = 0, again = 'opens' }: DamageCase): object {
  const isRefused = when === 'stopped' && String(start).endsWith('Error')
  const readings = isRefused ? {} : { ...ALL_READ, ...differs, faults: [], undocumented: [] }
  return { start, ...readings, ...(when === 'stopped' ? { check } : { again }) }
}

test('a flipped byte in each kind of file', async (t) => {
  const made = join(t.testdir(), 'made')
  await makeStoreOfEveryFile(made)
  await t.test('each kind of file is in the list, and each kind in the list is in the table', async (each) => {
    const running = await startOn(made)
    if (typeof running === 'string') throw new Error(running)
    const files = filesIn(made)
    await running.stop()
    each.same(
      files.filter((path) => kindOfFile(path) === undefined),
      [],
    )
    const paths = Object.values(new StorePaths(made)).map((path: string) => path.slice(made.length + 1))
    const directories = [
      '',
      'journal',
      'journal/aside',
      'payloads',
      'payloads/volumes',
      'payloads/files',
      'payloads/tmp',
      'projections',
      'snapshots',
      'record-index',
    ]
    each.same(
      paths.filter((path) => !directories.includes(path) && kindOfFile(path) === undefined),
      [],
    )
    const cases = new Set(DAMAGE_CASES.map(({ kind }) => kind))
    each.same(
      KINDS_OF_FILES.filter(({ name, noCase }) => cases.has(name) === (noCase !== undefined)).map(({ name }) => name),
      [],
    )
    each.same(
      DAMAGE_CASES.filter(({ kind }) => !KINDS_OF_FILES.some(({ name }) => name === kind)),
      [],
    )
  })
  for (const one of everyNth(DAMAGE_CASES, NTH)) {
    await t.test(`${one.kind}: ${one.what}`, async (each) => {
      each.match(await tried(each, made, one), expected(one))
    })
  }
})
