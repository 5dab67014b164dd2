/** Backups and restores over directories; `prove -- backup` has them under load, killed, and over the real command. */
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { backUp, backupCase, compare, faultsOf, KEYS, LARGE_BYTES, modelled, restore } from '../support/backups.ts'
import { POSITION_ROWS } from '../support/damage/position-row.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { someBytes } from '../support/test-store.ts'

function flip(path: string): void {
  const bytes = readFileSync(path)
  const at = Math.floor(bytes.length / 2)
  bytes[at] = (bytes[at] as number) ^ 1
  writeFileSync(path, bytes)
}

backupCase('a backup is whole, then has only what is new, and what is restored is a store that goes on', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('a', someBytes(3000))
  await life.put('b', someBytes(LARGE_BYTES), true)
  const first = await backUp(data, backup)
  t.match(first, {
    run: 1,
    files: 1,
    volumes: 1,
    missing: [],
    point: { sequence: life.store.journal.position.sequence },
  })
  t.match(await backUp(data, backup), { run: 2, records: 0, files: 0, volumes: 0, bytes: 0 }, 'nothing is new')
  await life.put('c', someBytes(500))
  await life.put('d', someBytes(LARGE_BYTES), true)
  await life.remove('b')
  const third = await backUp(data, backup)
  t.match(third, { run: 3, files: 1, volumes: 1 })
  t.ok(third.bytes < LARGE_BYTES + 20_000, 'only what is new is copied')
  t.same(await faultsOf(backup), [])
  const restored = join(root, 'restored')
  t.match(await restore(backup, restored), { last: { sequence: third.point.sequence }, losses: [] })
  await compare(t, restored, life.at(third.point.sequence))
  const changes = journalEntries(restored).flatMap((entry) => entry.changes)
  t.match(
    changes.filter(({ name }) => name === 'journal.restored'),
    [{ last: third.point.sequence, head: Buffer.from(third.point.hash, 'hex') }],
    'the journal says once that it was restored',
  )
  t.match(await backUp(restored, backup), { run: 4 }, 'the restored store goes on in the same backup')
  await t.rejects(
    backUp(data, backup),
    { exit: 'failed', message: /the store no longer has record/ },
    'the old one does not',
  )
})

backupCase(
  'a restore to every record is the store of that moment, cut in the middle of batches, over cold segments',
  async (t) => {
    const root = t.testdir()
    const [data, backup] = [join(root, 'data'), join(root, 'backup')]
    const life = await modelled(data, 8 * 1024)
    for (let number = 0; number < 24; number += 1) {
      const key = KEYS[number % KEYS.length] as string
      if (number % 7 === 6) await life.remove(key)
      else await life.put(key, someBytes(number % 5 === 4 ? LARGE_BYTES : 200 + number), number % 5 === 4)
      if (number === 15) await compressJournal(life.store.paths)
      if (number % 2 === 1) await backUp(data, backup)
    }
    t.ok(segmentFirsts(nodeDisk, life.store.paths).length > 1, 'there is more than one segment')
    const { point } = await backUp(data, backup)
    t.same(await faultsOf(backup), [])
    for (let at = 0; at <= point.sequence; at += 1) {
      const restored = join(root, 'restored')
      const losses = await restore(backup, restored, at).then(
        () => false,
        (error: { readonly exit?: string }) => error.exit === 'dataLost',
      )
      // What was written and removed between two backups is in none of them.
      if (losses) await restore(backup, restored, at, true)
      else await compare(t, restored, life.at(at))
      rmSync(restored, { recursive: true })
    }
    await t.rejects(restore(backup, join(root, 'restored'), point.sequence + 1), {
      exit: 'notFound',
      message: /the backup ends with/,
    })
    t.notOk(existsSync(join(root, 'restored')))
  },
)

backupCase('segments that have become cold count as there, and an open one is replaced by its cold form', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data, 16 * 1024)
  for (let number = 0; number < 10; number += 1) await life.put('a', someBytes(100))
  await backUp(data, backup)
  for (let number = 0; number < 60; number += 1) await life.put('b', someBytes(100))
  t.ok((await compressJournal(life.store.paths)) > 0)
  const { point } = await backUp(data, backup)
  t.same(await faultsOf(backup), [])
  await restore(backup, join(root, 'restored'))
  await compare(t, join(root, 'restored'), life.at(point.sequence))
})

backupCase('damage to a backup is found and named, wherever it is', async (t) => {
  const root = t.testdir()
  const [data, backup, copy] = [join(root, 'data'), join(root, 'backup'), join(root, 'copy')]
  const life = await modelled(data)
  await life.put('a', someBytes(3000))
  await life.put('b', someBytes(LARGE_BYTES), true)
  await backUp(data, backup)
  const { files: directory, volumes, journal } = new StorePaths(backup)
  const file = (readdirSync(directory, { recursive: true }) as string[]).find((name) => name.includes('/')) as string
  const places = {
    file: join(directory, file),
    volume: join(volumes, '0000000000.volume'),
    segment: join(journal, '0000000000000000.segment'),
    manifest: join(backup, 'manifests', '0000000001.manifest'),
  }
  const inCopy = (path: string): string => join(copy, path.slice(backup.length))
  const found = async (harm: (path: string) => void, path: string): Promise<string> => {
    rmSync(copy, { recursive: true, force: true })
    cpSync(backup, copy, { recursive: true })
    harm(inCopy(path))
    const faults = await faultsOf(copy).catch((error: unknown) => [String(error)])
    t.not(faults.length, 0, `damage to ${path} is found`)
    await t.rejects(restore(copy, join(root, 'restored')), 'nothing is restored')
    t.notOk(existsSync(join(root, 'restored', 'journal')))
    t.notOk(existsSync(join(root, 'restored', 'payloads')))
    return faults.join()
  }
  t.match(await found(flip, places.file), /payload \d+: file [0-9a-f]{28}: its SHA-256 does not match/)
  t.match(await found(flip, places.volume), /payload \d+: volume 0, offset \d+: its SHA-256 does not match/)
  t.match(await found(flip, places.segment), /damaged batch|content changed|acknowledged entries lost/)
  t.match(await found(flip, places.manifest), /manifest: it is damaged or not whole/)
  t.match(await found(rmSync, places.file), /file [0-9a-f]{28} is not there/)
  t.match(await found(rmSync, places.volume), /volume 0 is not there/)
  t.match(await found((path) => appendFileSync(path, 'x'), places.file), /has \d+ bytes, not \d+/)
  t.match(await found(rmSync, places.manifest), /no backup into .* was ever finished/)
})

backupCase('what the store itself lacks is named, and the rest is backed up', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('a', someBytes(3000))
  await life.put('b', someBytes(LARGE_BYTES), true)
  const [name] = (readdirSync(life.store.paths.files, { recursive: true }) as string[]).filter((path) =>
    path.includes('/'),
  )
  rmSync(join(life.store.paths.files, name as string))
  const report = await backUp(data, backup)
  t.match(report.missing, [/payload file [0-9a-f]{28}: it is gone/])
  t.match(await faultsOf(backup), [/is not there/])
  await t.rejects(restore(backup, join(root, 'restored')), { exit: 'dataLost', message: /is not in the backup/ })
  t.match(await restore(backup, join(root, 'restored'), undefined, true), { losses: [/not in the backup/] })
})

backupCase('removed payloads stay in a backup until they are pruned', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('b', someBytes(LARGE_BYTES), true)
  const { point } = await backUp(data, backup)
  await life.remove('b')
  await backUp(data, backup)
  await restore(backup, join(root, 'before'), point.sequence)
  await compare(t, join(root, 'before'), life.at(point.sequence))
  t.match(await backUp(data, backup, nodeDisk, true), { pruned: { files: 1, volumes: 0 } })
  t.same(await faultsOf(backup), [])
  t.same(readdirSync(join(backup, 'manifests')).length, 1, 'one manifest lists everything')
  await t.rejects(restore(backup, join(root, 'again'), point.sequence), {
    exit: 'dataLost',
    message: /not in the backup/,
  })
  await life.put('c', someBytes(10))
  t.match(await backUp(data, backup), { missing: [] })
  t.same(await faultsOf(backup), [])
})

backupCase('a stopped store whose last segment is cold is backed up as it is', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data, 8 * 1024)
  for (let number = 0; number < 30; number += 1) await life.put('a', someBytes(100))
  await life.kill()
  const { paths } = life.store
  await compressJournal(paths)
  // Its successor had no batch yet, and was lost with the mark.
  const last = segmentFirsts(nodeDisk, paths).at(-1) as ReturnType<typeof segmentFirsts>[number]
  rmSync(paths.segment(last))
  rmSync(paths.head)
  const { point } = await backUp(data, backup)
  t.match(point, { sequence: last - 1, offset: null })
  t.same(await faultsOf(backup), [])
  await restore(backup, join(root, 'restored'))
  await compare(t, join(root, 'restored'), life.at(point.sequence))
})

backupCase('a kept state whose position cannot be used is made anew', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('a', someBytes(3000))
  await backUp(data, backup)
  for (const [what, edit] of Object.entries(POSITION_ROWS)) {
    edit(join(backup, 'cache'))
    await life.put('b', someBytes(500))
    t.match(await backUp(data, backup), { volumes: 1 }, what)
    t.same(await faultsOf(backup), [], what)
  }
})
