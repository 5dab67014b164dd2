/** The log of checkpoints over the wire: notes, proofs and tiles, verified with what its readers have. */
import tap, { test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { isSignedBy, readCheckpointNote, readVerifierKey } from '../../../engine/checkpoints/checkpoint-note.ts'
import { LOG_HASHING } from '../../../engine/checkpoints/tree-hashing.ts'
import { isConsistent, rootOfInclusion } from '../../../engine/checkpoints/tree-shape.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { tileOfPath } from '../../../planes/management/requests/tile-path.ts'
import { TreeFiles, treesIn } from '../../../projections/checkpoints/tree-files.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { auditOf } from '../../support/commands.ts'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api, store, paths } = server
let now = Date.now()
const signing = signingOf({ ...server.store, paths }, { intervalSeconds: 1, clock: () => now })
tap.teardown(() => signing.close())

async function textOf(path: string): Promise<string> {
  const { status, body } = await api.send('GET', `${API}/transparency/${path}`)
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
  return body.toString()
}

/** The hashes of a proof, and the note after them. */
function partsOf(proof: string): { readonly head: string[]; readonly path: Buffer[]; readonly note: string } {
  const [before = '', ...after] = proof.split('\n\n')
  const lines = before.split('\n')
  const head = lines.filter((line) => line.includes(' ') || line.includes('@'))
  const path = lines.filter((line) => !head.includes(line)).map((line) => Buffer.from(line, 'base64'))
  return { head, path, note: after.join('\n\n') }
}

test('before the first checkpoint there is nothing to read', async (t) => {
  for (const path of ['checkpoint', 'key', 'proof/inclusion?sequence=0', 'proof/consistency?old=1', 'tile/0/000.p/1']) {
    t.match(await api.call('GET', `/transparency/${path}`), {
      status: 404,
      json: { error: { code: 'CHECKPOINT_NOT_FOUND' } },
    })
  }
  t.same(await api.get('GET', '/transparency/checkpoints'), { checkpoints: [], next_after: null })
  t.match(await api.get('GET', '/storage/status'), { checkpoints: { enabled: false, last_size: null } })
})

test('a reader with the key verifies the note, that a record is in it, and that later notes extend it', async (t) => {
  for (let index = 0; index < 300; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
  await signing.settle()
  const first = readCheckpointNote(await textOf('checkpoint'))
  const key = readVerifierKey((await textOf('key')).trim())
  t.ok(isSignedBy(first, key))
  now = Math.max(now, Date.now()) + 10_000
  await api.get('POST', '/buckets', { name: 'later' })
  await signing.settle()
  const last = readCheckpointNote(await textOf('checkpoint'))
  t.ok(isSignedBy(last, key) && last.size > first.size)
  const { head, path, note } = partsOf(await textOf(`proof/consistency?old=${first.size}`))
  t.same(head, [`old ${first.size}`])
  t.same(readCheckpointNote(note), last)
  t.ok(isConsistent(LOG_HASHING, first, last, path))
  const earlier = partsOf(await textOf(`proof/inclusion?sequence=5&size=${first.size}`))
  t.same(earlier.head, ['c2sp.org/tlog-proof@v1', 'index 5'])
  const trees = TreeFiles.openToRead(nodeDisk, treesIn(paths.projections)) as TreeFiles
  t.same(rootOfInclusion(LOG_HASHING, trees.recordHash(5), 5, first.size, earlier.path), first.root)
  trees.close()
  const page = await api.get<{ checkpoints: { size: number; sequence: number; note: string }[]; next_after: number }>(
    'GET',
    '/transparency/checkpoints?limit=1',
  )
  t.match(page, { checkpoints: [{ size: first.size }], next_after: page.checkpoints[0]?.sequence })
  t.match(await api.get('GET', `/transparency/checkpoints?after=${page.next_after}`), {
    checkpoints: [{ size: last.size }],
    next_after: null,
  })
  t.match(await api.get('GET', '/storage/status'), { checkpoints: { last_size: last.size } })
})

test('the tiles give the root that was signed', async (t) => {
  const { size, root } = readCheckpointNote(await textOf('checkpoint'))
  const entries: Buffer[] = []
  for (let tile = 0; tile * 256 < size; tile += 1) {
    const width = Math.min(256, size - tile * 256)
    const suffix = width === 256 ? '' : `.p/${width}`
    const name = String(tile).padStart(3, '0')
    const { body } = await api.send('GET', `${API}/transparency/tile/entries/${name}${suffix}`)
    const hashes = await api.send('GET', `${API}/transparency/tile/0/${name}${suffix}`)
    t.same([body.length, hashes.body.length], [width * 34, width * 32])
    for (let at = 0; at < width; at += 1) {
      const entry = body.subarray(at * 34 + 2, at * 34 + 34)
      entries.push(entry)
      if (!LOG_HASHING.leaf(entry).equals(hashes.body.subarray(at * 32, at * 32 + 32))) t.fail(`entry ${at} of ${name}`)
    }
  }
  const whole = await api.send('GET', `${API}/transparency/tile/1/000.p/${Math.floor(size / 256)}`)
  t.equal(whole.body.length, Math.floor(size / 256) * 32)
  let level = entries.map((entry) => LOG_HASHING.leaf(entry))
  while (level.length > 1) {
    level = level.flatMap((left, at) => {
      if (at % 2 === 1) return []
      const right = level[at + 1]
      return [right === undefined ? left : LOG_HASHING.node(left, right)]
    })
  }
  t.same(level[0], root)
})

test('what no published checkpoint needs is not given', async (t) => {
  const { size } = readCheckpointNote(await textOf('checkpoint'))
  const missing = [
    `proof/inclusion?sequence=${size}`,
    'proof/inclusion?sequence=0&size=2',
    `proof/consistency?old=${size}&size=1`,
    `proof/consistency?old=${size + 1}`,
    'proof/consistency?old=1&size=2',
    'tile/0/x001/000',
    'tile/entries/999',
    'tile/2/000',
    `tile/0/000.p/${256}`,
    'tile/0/1',
  ]
  for (const path of missing) {
    t.match(await api.call('GET', `/transparency/${path}`), {
      status: 404,
      json: { error: { code: 'CHECKPOINT_NOT_FOUND' } },
    })
  }
  for (const path of [
    'proof/inclusion?sequence=-1',
    'proof/consistency?old=-1',
    'checkpoints?limit=1001',
    'checkpoint?x=1',
  ]) {
    t.match(await api.call('GET', `/transparency/${path}`), { status: 400 })
  }
})

test('names of tiles have one form', async (t) => {
  t.same(tileOfPath('0/x001/x234/067'), { level: 0, index: 1_234_067, width: 256 })
  t.same(tileOfPath('entries/000.p/5'), { level: 'entries', index: 0, width: 5 })
  const wrong = [
    '',
    '0',
    '0/0',
    '00/000',
    '6/000',
    '0/x000/001',
    '0/000.p/0',
    '0/000.p/05',
    '0/000.p/256',
    '0/1000',
    '0/000/',
    '-1/000',
  ]
  for (const path of wrong) t.equal(tileOfPath(path), undefined, path)
  t.equal(tileOfPath('0/x001/x001/x001/x001/000'), undefined, 'no store has so many records')
})
