/** What a manifest says is believed by nobody: each field altered, and each file that is not one, is refused by verify and restore alike. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backUp, backupCase, LARGE_BYTES, modelled, restore, verify } from '../support/backups.ts'
import { someBytes } from '../support/test-store.ts'

type Line = Record<string, unknown>

function linesOf(manifest: string): Line[] {
  const lines = readFileSync(manifest, 'utf8').split('\n').slice(0, -2)
  return lines.map((line) => JSON.parse(line) as Line)
}

function writeLines(manifest: string, lines: readonly unknown[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  writeFileSync(manifest, `${text}${JSON.stringify({ sha256 })}\n`)
}

interface Refusal {
  readonly name: string
  readonly exit?: string
  readonly message: string
}

async function refusalOf(ask: () => Promise<unknown>): Promise<Refusal> {
  try {
    await ask()
  } catch (error) {
    return error as Refusal
  }
  return { name: 'none', message: 'it was taken' }
}

const WRONG = [null, true, '', 'x', -1, 1.5, 2 ** 60, [], {}, '../x', '\u0000'] as const
const HASHES = ['ab', 'f'.repeat(64), 'F'.repeat(64)] as const

/** Values of each field of the first line that are not its value. */
const HEAD: Readonly<Record<string, readonly unknown[]>> = {
  format: WRONG,
  version: ['1', 0, null, [2], {}],
  number: WRONG,
  previous: ['ab', 'f'.repeat(64), 7, true, ''],
  deployment_id: [...WRONG, ...HASHES, 'f'.repeat(32)],
  made: [...WRONG, '2026', '2026-13-01T00:00:00Z', '1969-01-01T00:00:00Z', '2026-01-01T00:00:00+01:00'],
  point: WRONG,
}
const POINT: Readonly<Record<string, readonly unknown[]>> = {
  sequence: [...WRONG, '2', 2, 10_000],
  hash: [...WRONG, ...HASHES],
  batch: [...WRONG, 1, 10_000],
  segment: [...WRONG, 1],
  offset: ['256', true, -5, 0, 255, 1.5, 264, 2 ** 40, [], {}, null],
}
const ADDED: readonly unknown[] = [
  null,
  7,
  'file',
  [],
  {},
  { file: '../../etc/passwd', bytes: 1, sha256: 'f'.repeat(64) },
  { file: 7, bytes: 1, sha256: 'f'.repeat(64) },
  { file: '0'.repeat(28), bytes: -1, sha256: 'f'.repeat(64) },
  { file: '0'.repeat(28), bytes: 1, sha256: 'f' },
  { volume: -1, bytes: 5 },
  { volume: 2 ** 40, bytes: 5 },
  { volume: 0, bytes: '5' },
  { missing: 7 },
]

backupCase(
  'every field of a manifest that is altered is refused by both, with one message, and nothing is written',
  async (t) => {
    const root = t.testdir()
    const [data, backup, target] = [join(root, 'data'), join(root, 'backup'), join(root, 'restored')]
    const life = await modelled(data)
    await life.put('a', someBytes(100))
    await life.put('b', someBytes(LARGE_BYTES), true)
    await backUp(data, backup)
    const manifest = join(backup, 'manifests', '0000000001.manifest')
    const [head = {}, ...rest] = linesOf(manifest)
    const point = head['point'] as Line
    const without = (from: Line, name: string): Line =>
      Object.fromEntries(Object.entries(from).filter(([one]) => one !== name))
    const altered: [string, readonly unknown[]][] = []
    for (const [name, values] of Object.entries(HEAD)) {
      altered.push([`no ${name}`, [without(head, name), ...rest]])
      for (const value of values)
        altered.push([`${name} ${JSON.stringify(value)}`, [{ ...head, [name]: value }, ...rest]])
    }
    for (const [name, values] of Object.entries(POINT)) {
      altered.push([`no ${name} of the point`, [{ ...head, point: without(point, name) }, ...rest]])
      for (const value of values) {
        altered.push([`${name} ${JSON.stringify(value)}`, [{ ...head, point: { ...point, [name]: value } }, ...rest]])
      }
    }
    for (const line of ADDED) altered.push([`a line ${JSON.stringify(line)}`, [head, line, ...rest]])
    altered.push(['nothing', []], ['a list first', [[], ...rest]], ['null first', [null, ...rest]])
    for (const [name, lines] of altered) {
      writeLines(manifest, lines)
      const [verified, restored] = [
        await refusalOf(() => verify(backup)),
        await refusalOf(() => restore(backup, target)),
      ]
      t.match(verified, { name: 'ExitError', exit: 'storeDamaged' }, `${name}: ${verified.message}`)
      t.equal(restored.message, verified.message, name)
      t.notOk(existsSync(target), `${name}: nothing is written`)
    }
    writeLines(manifest, [{ ...head, version: 2 }, ...rest])
    t.match(await refusalOf(() => verify(backup)), { exit: 'newerFormat' })
    writeLines(manifest, [head, ...rest])
    t.match(await verify(backup), { journal: { intact: true }, payloads: { problems: [] } })
    await restore(backup, target)
    t.ok(existsSync(join(target, 'journal')))
  },
)

backupCase(
  'a manifest that states fewer bytes or another digest than a payload has is not whole for either',
  async (t) => {
    const root = t.testdir()
    const [data, backup, target] = [join(root, 'data'), join(root, 'backup'), join(root, 'restored')]
    const life = await modelled(data)
    await life.put('a', someBytes(100))
    await life.put('b', someBytes(LARGE_BYTES), true)
    await backUp(data, backup)
    const manifest = join(backup, 'manifests', '0000000001.manifest')
    const [head = {}, ...rest] = linesOf(manifest)
    const alterations: readonly ((line: Line) => Line)[] = [
      (line) => ('volume' in line ? { ...line, bytes: 1 } : line),
      (line) => ('file' in line ? { ...line, bytes: 1 } : line),
      (line) => ('file' in line ? { ...line, sha256: 'f'.repeat(64) } : line),
    ]
    for (const alter of alterations) {
      writeLines(manifest, [head, ...rest.map(alter)])
      t.match((await verify(backup)).payloads?.problems, [/./], 'verify says which')
      const { exit, name } = await refusalOf(() => restore(backup, target))
      t.equal(name, 'ExitError')
      t.ok(exit === 'dataLost' || exit === 'storeDamaged')
      t.notOk(existsSync(join(target, 'journal')), 'no store is made of it')
    }
  },
)

backupCase('what is not a regular file is refused, and nothing waits for it', async (t) => {
  const root = t.testdir()
  const [data, backup, target] = [join(root, 'data'), join(root, 'backup'), join(root, 'restored')]
  const life = await modelled(data)
  await life.put('a', someBytes(100))
  await life.put('b', someBytes(LARGE_BYTES), true)
  await backUp(data, backup)
  const files = (
    ['journal/0000000000000000.segment', 'manifests/0000000001.manifest', 'payloads/volumes/0000000000.volume'] as const
  ).map((name) => join(backup, name))
  const [payload = ''] = execFileSync('find', [join(backup, 'payloads/files'), '-type', 'f'], {
    encoding: 'utf8',
  }).split('\n')
  for (const file of [...files, payload]) {
    const aside = `${file}.aside`
    renameSync(file, aside)
    const odd: Readonly<Record<string, () => void>> = {
      'a pipe': () => execFileSync('mkfifo', [file]),
      'a link to it': () => symlinkSync(aside, file),
      'a link to a device': () => symlinkSync('/dev/zero', file),
    }
    for (const [name, make] of Object.entries(odd)) {
      make()
      for (const ask of [() => verify(backup), () => restore(backup, target)]) {
        t.match(
          await refusalOf(ask),
          { exit: 'storeDamaged', message: `${file} is not a regular file` },
          `${name} as ${file}`,
        )
      }
      t.notOk(existsSync(join(target, 'journal')))
      rmSync(target, { recursive: true, force: true })
      rmSync(file)
    }
    renameSync(aside, file)
  }
  t.match(await verify(backup), { journal: { intact: true }, payloads: { problems: [] } })
  truncateSync(join(backup, 'manifests', '0000000001.manifest'), 60 * 1024 ** 3)
  for (const ask of [() => verify(backup), () => restore(backup, target)]) {
    t.match(await refusalOf(ask), { exit: 'storeDamaged', message: /a line that is too long/ }, 'a sparse manifest')
  }
})
