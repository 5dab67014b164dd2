/** Where the work of a kind begins: a store with some of everything. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { ClientLedger } from '../../support/dying-servers/client-ledger.ts'
import { createBucket, write, writeFile } from '../../support/commands.ts'
import { PART_MINIMUM } from '../../model/rules.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { BOOT_ID } from '../../support/test-store.ts'
import { createUpload, writePart } from '../../support/upload-commands.ts'
import { setVersioning } from '../../support/version-commands.ts'
import type { KindOfWork } from './kinds-of-work.ts'
import { Life, NOW } from './life.ts'
import type { Beginning } from './trial.ts'

/** A stopped store that every other begins with. */
export async function commonBeginning(directory: string): Promise<Beginning & { readonly root: string }> {
  const life = new Life(join(directory, 'common'), new ClientLedger(NOW), BOOT_ID)
  await life.open()
  for (const bucket of ['kept', 'versions', 'empty']) await life.send(createBucket(bucket))
  await life.send(setVersioning('versions', 'enabled'))
  for (const key of ['small', 'other']) await life.send(write('kept', key, sampleBytes(300, key.length)))
  const large = sampleBytes(60_000, 5)
  await life.send(writeFile('kept', 'large', large, await life.storeFile(large)))
  for (const seed of [6, 7]) await life.send(write('versions', 'key', sampleBytes(100, seed)))
  await life.send(createUpload('kept', 'parts'))
  await life.send(writePart(life.upload, 1, sampleBytes(100, 8), PART_MINIMUM))
  const part = sampleBytes(10_000, 9)
  const name = await life.storeFile(part)
  await life.send({ ...writePart(life.upload, 2, part), body: { kind: 'file', name, sealed: false } })
  await life.end('stopped')
  return { root: life.paths.root, ledger: life.ledger }
}

/** Goes on from the common beginning to that of one kind of work. */
export async function beginningOf(
  kind: KindOfWork,
  common: Beginning & { readonly root: string },
  directory: string,
): Promise<Beginning> {
  if (kind.fromNothing) return { root: undefined, ledger: new ClientLedger(NOW) }
  if (kind.setUp === undefined && kind.left === undefined) return common
  const root = join(directory, kind.name.replaceAll(' ', '-'))
  cpSync(common.root, root, { recursive: true })
  const life = new Life(root, common.ledger.copy(), BOOT_ID)
  await life.open()
  await kind.setUp?.(life)
  life.disk.fault = () => undefined
  await life.end(kind.left ?? 'stopped')
  return { root, ledger: life.ledger }
}
