/** Everything that must hold of a data directory after a life in which the disk failed. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { type StorePaths, segmentFirstSequence, volumeNumber } from '../../../engine/disk/store-paths.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { VolumeCompaction } from '../../../workers/compact-volumes.ts'
import { PayloadFileSweep } from '../../../workers/sweep-payload-files.ts'
import { digestOf } from '../../support/commands.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { openTestStore, type TestStore } from '../../support/test-store.ts'
import { type Life, storeOptions } from './life.ts'
import { finishSigning } from './kinds-of-signing.ts'
import { finishDeliveries, finishPass } from './unfinished-work.ts'

const VERIFIER = fileURLToPath(new URL('../../../../spec/formats/verify_journal.py', import.meta.url))
/** What may lie in a data directory that was stopped in order, besides segments, volumes and payload files in use. */
const KEPT =
  /^(journal\/(HEAD|keys)|journal\/aside\/[^.]+|projections\/((data|lock)\.mdb|sums|made|starts|trees\/[a-z]+-[a-z0-9]+)|snapshots\/\d+-\d+(\.snapshot|-\d+\.changes))$/

/** What is not as it must be. */
export interface Findings {
  /** Of what clients were told. */
  readonly lost: readonly string[]
  readonly wrong: readonly string[]
}

/** Opens the store on a healthy disk, holds it against what its clients were told, and takes it apart. */
export async function examine({ paths, ledger, receiver }: Life, bootId: string): Promise<Findings> {
  const wrong = await unverified(paths, 'as it was left')
  const store = await openTestStore(paths.root, storeOptions(bootId, ledger.now)).catch((error: unknown) =>
    String(error),
  )
  if (typeof store === 'string') return { lost: [`it cannot be opened again: ${store}`], wrong }
  const lost = await ledger.check(store).catch((error: unknown) => [String(error)])
  await finishPass(store, ledger, { lost, wrong })
  await finishDeliveries(store, ledger, receiver, { lost, wrong })
  await finishSigning(store, ledger.now, wrong)
  await sweep(store)
  wrong.push(...leftOvers(store))
  await store.close(true)
  const { differenceCount, differences } = await checkProjections(nodeDisk, paths)
  if (differenceCount > 0) wrong.push(`rows are not those of the journal: ${JSON.stringify(differences[0])}`)
  wrong.push(...(await unverified(paths, 'at the end')), ...evidenceWithoutEntry(paths), ...strangers(paths))
  return { lost, wrong }
}

/** What was cut off is kept, and each of it has its entry in the journal (J15). */
function evidenceWithoutEntry(paths: StorePaths): string[] {
  const told = journalEntries(paths.root).flatMap(({ changes }) =>
    changes.flatMap((change) => (change.name === 'journal.recovered' ? [hex(change.digest)] : [])),
  )
  const kept = nodeDisk.list(paths.aside).map((name) => hex(digestOf(readFileSync(join(paths.aside, name)))))
  const isSame = kept.toSorted().join() === [...new Set(told)].toSorted().join()
  return isSame ? [] : [`${kept.length} pieces of evidence are kept, and the journal has entries about ${told.length}`]
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** The same by the verifier that shares nothing with the store, not even the language. */
export function wrongByStandaloneVerifier(paths: StorePaths): string[] {
  const { status, stdout, stderr } = spawnSync('python3', [VERIFIER, paths.journal], { encoding: 'utf8' })
  return status === 0 ? [] : [`verify_journal.py: ${stdout}${stderr}`]
}

async function unverified(paths: StorePaths, when: string): Promise<string[]> {
  if (!nodeDisk.list(paths.journal).some((name) => segmentFirstSequence(name) !== undefined)) return []
  const report = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
  const wrong = report.problems.map(({ verdict, detail }) => `the journal ${when}: ${verdict}: ${detail}`)
  if (when === 'at the end' && report.openSegmentTornTail !== undefined) wrong.push('a torn tail is left')
  return wrong
}

/** What the workers of a server do after a start. */
export async function sweep(store: TestStore): Promise<void> {
  const { disk, paths, catalog, client } = store
  const files = new PayloadFileSweep(disk, paths, store.start, (name) => catalog.snapshot().payloadFileIsUsed(name))
  while ((await files.step()) === 'more');
  if (unknownVolumes(store).length > 0) await new VolumeCompaction(disk, paths, client, catalog).step()
}

/** Volumes that nothing is in. The next one may be there already: it is made again when it is needed. */
function unknownVolumes({ disk, paths, catalog }: TestStore): number[] {
  const known = catalog
    .snapshot()
    .volumes()
    .map(({ volume }) => volume)
  const next = (known.at(-1) ?? -1) + 1
  const found = disk.list(paths.volumes).flatMap((name) => volumeNumber(name) ?? [])
  return found.filter((volume) => volume !== next && !known.includes(volume))
}

export function leftOvers(store: TestStore): string[] {
  const { disk, paths, catalog } = store
  const wrong = unknownVolumes(store).map((volume) => `volume ${volume} is left`)
  for (const directory of disk.list(paths.files)) {
    for (const name of disk.list(`${paths.files}/${directory}`)) {
      if (!catalog.snapshot().payloadFileIsUsed(name)) wrong.push(`payload file ${name} is left`)
    }
  }
  return wrong
}

/** Files that nobody knows what to do with. */
function strangers(paths: StorePaths): string[] {
  const files = readdirSync(paths.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.flatMap(({ parentPath, name }) => {
    const path = relative(paths.root, `${parentPath}/${name}`)
    const isKnown =
      KEPT.test(path) ||
      (path.startsWith('journal/') && segmentFirstSequence(name) !== undefined) ||
      (path.startsWith('payloads/volumes/') && volumeNumber(name) !== undefined) ||
      path.startsWith('payloads/files/')
    return isKnown ? [] : [`${path} is left`]
  })
}
