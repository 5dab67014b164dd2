/** What can happen in a small world. */
import { createBucket, deleteObject, write, writeFile } from '../../support/commands.ts'
import { PART_MINIMUM } from '../../model/rules.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { TestStore } from '../../support/test-store.ts'
import { completeUpload, createUpload, type UploadName, writePart } from '../../support/upload-commands.ts'
import type { World } from './world.ts'

/** A world with its store open. */
export interface OpenWorld extends World {
  readonly store: TestStore
}

export type Letter = (world: OpenWorld) => Promise<unknown>

const SMALL_BYTES = 200
/** In a file of its own, however short it is. */
const LARGE_BYTES = 700

/** Other bytes each time, and the same ones when the same is done again. */
function bytesFor({ ledger }: OpenWorld, length: number): Buffer {
  return sampleBytes(length, ledger.acknowledged + 1)
}

async function putLarge(world: OpenWorld, key: string): Promise<void> {
  const bytes = bytesFor(world, LARGE_BYTES)
  const name = await world.ledger.storeFile(world.store, bytes)
  await world.ledger.send(world.store.client, writeFile('kept', key, bytes, name))
}

function putSmall(world: OpenWorld, key: string): Promise<unknown> {
  return world.ledger.send(world.store.client, write('kept', key, bytesFor(world, SMALL_BYTES)))
}

function uploadOf({ ledger }: World): UploadName | undefined {
  return [...ledger.state.uploads.values()][0]
}

async function putPart(world: OpenWorld): Promise<void> {
  const { ledger, store } = world
  const name = uploadOf(world) ?? { bucket: 'kept', key: 'parts', upload: 0 }
  const number = (ledger.state.uploads.get(name.upload)?.parts.size ?? 0) + 1
  await ledger.send(store.client, writePart(name, number, bytesFor(world, SMALL_BYTES), PART_MINIMUM))
}

async function complete(world: OpenWorld): Promise<void> {
  const { ledger, store } = world
  const name = uploadOf(world) ?? { bucket: 'kept', key: 'parts', upload: 0 }
  const parts = [...(ledger.state.uploads.get(name.upload)?.parts ?? [])]
  const listed = parts.map(([part, { etag }]) => ({ part, etag }))
  await ledger.send(store.client, completeUpload(name, listed))
}

/** Entries until a segment is sealed and the next one is begun. */
async function rotate({ ledger, store }: OpenWorld): Promise<void> {
  const { segmentNumber } = store.journal.place
  while (store.journal.place.segmentNumber === segmentNumber) {
    await ledger.send(store.client, deleteObject('kept', 'nothing'))
  }
}

/** Refusals are answers as well: an upload can be completed once. */
export const ALPHABET: Readonly<Record<string, Letter>> = {
  'create bucket': ({ ledger, store }) => ledger.send(store.client, createBucket('more')),
  'put small': (world) => putSmall(world, 'small'),
  'put large': (world) => putLarge(world, 'large'),
  overwrite: (world) => putSmall(world, 'large'),
  delete: ({ ledger, store }) => ledger.send(store.client, deleteObject('kept', 'large')),
  part: putPart,
  complete,
  rotate,
}

/** What is there before the first letter. */
export async function populate(world: OpenWorld): Promise<void> {
  const { ledger, store } = world
  await ledger.send(store.client, createBucket('kept'))
  await putSmall(world, 'old')
  await putLarge(world, 'large')
  await ledger.send(store.client, createUpload('kept', 'parts'))
  await putPart(world)
}
