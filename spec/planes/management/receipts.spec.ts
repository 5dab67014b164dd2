/** Receipts of checkpoints over the wire: those that were fetched by hand, lists, and what is withheld. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { API } from '../../../planes/management/routing/define-route.ts'
import { timeStampRequest } from '../../../engine/checkpoints/time-stamp.ts'
import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { createBucket } from '../../support/commands.ts'
import { startManaged } from '../../support/management-server.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { timeStampAuthority } from '../../support/time-stamp-authority.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api, paths } = server
let now = Date.now()
let isWithheld = false
const signing = signingOf(
  { ...server.store, paths },
  { intervalSeconds: 1, clock: () => now, withholds: () => isWithheld },
)
tap.teardown(() => signing.close())
const root = temporaryDirectory()
tap.teardown(() => rmSync(root, { recursive: true }))
const authority = timeStampAuthority(join(root, 'tsa'))
const execute = server.store.client.execute.bind(server.store.client)

test('a time stamp that was fetched by hand is checked, kept and listed, and its request is recorded', async (t) => {
  await signing.settle()
  const { size, bundleRoot } = signing.reader.last() as CheckpointState
  const answer = authority.answer(timeStampRequest(bundleRoot, undefined))
  const receipt = answer.toString('base64')
  t.match(await api.call('POST', '/transparency/receipts', { receipt, giver: 'https://tsa.example/' }), {
    status: 201,
    json: { size, asserted_at: /Z$/ },
  })
  const page = await api.get<{ receipts: { receipt: string }[] }>('GET', `/transparency/receipts?size=${size}`)
  t.match(page, {
    receipts: [{ size, kind: 'rfc3161', giver: 'https://tsa.example/' }],
    next_size: null,
    next_after: null,
  })
  t.ok(authority.verify(Buffer.from(page.receipts[0]?.receipt ?? '', 'base64'), bundleRoot))
  t.match(await api.get('GET', '/transparency/checkpoints'), {
    checkpoints: [{ size, receipts: [{ kind: 'rfc3161' }] }],
  })
  await api.call('POST', '/transparency/receipts', { receipt, giver: 'https://tsa.example/', size })
  t.equal(signing.reader.receiptsOf(size).length, 1, 'the same again is not kept twice')
  const report = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
  t.match(report, { intact: true, notes: [] })
})

test('receipts that say something else are refused', async (t) => {
  const other = authority.answer(timeStampRequest(Buffer.alloc(32, 9), undefined)).toString('base64')
  const cases = [
    [{ receipt: other }, 422, 'RECEIPT_REFUSED'],
    [{ receipt: Buffer.from('no time stamp').toString('base64') }, 422, 'RECEIPT_REFUSED'],
    [{ receipt: 'not base64!' }, 400, 'INVALID_REQUEST'],
    [{ receipt: other, giver: 'a b' }, 400, 'INVALID_REQUEST'],
    [{ receipt: 'A'.repeat(40_000) }, 400, 'INVALID_REQUEST'],
    [{ receipt: other, size: 1 }, 404, 'CHECKPOINT_NOT_FOUND'],
    [{}, 400, 'INVALID_REQUEST'],
  ] as const
  for (const [body, status, code] of cases) {
    t.match(await api.call('POST', '/transparency/receipts', body), { status, json: { error: { code } } })
  }
  const { size } = signing.reader.last() as CheckpointState
  t.equal(signing.reader.receiptsOf(size).length, 1)
  const beyond = await api.call('POST', '/transparency/receipts', { receipt: other, size: size + 1 })
  t.match(beyond, { status: 404, json: { error: { code: 'CHECKPOINT_NOT_FOUND', message: /was rolled back/ } } })
})

test('at most 64 receipts of a checkpoint are kept; pages go on where they ended', async (t) => {
  const { size } = signing.reader.last() as CheckpointState
  const keep = (byte: number, of = size) =>
    execute({
      kind: 'record-receipt',
      audit: systemAudit('checkpoints', 'checkpoint.receipt', 'log'),
      receipt: {
        size: of,
        kind: 'lock',
        giver: 's3://x/y',
        receipt: Buffer.alloc(8, byte),
        assertedMicroseconds: undefined,
      },
    })
  for (let byte = 1; byte < 64; byte += 1) await keep(byte)
  await t.rejects(keep(64), { code: 'too-many-receipts' })
  await t.rejects(keep(1, size + 1), { code: 'checkpoint-missing' })
  const seen: number[] = []
  let next = { size: 1, after: 0 } as { size: number; after: number } | undefined
  while (next !== undefined) {
    const page: { receipts: { sequence: number }[]; next_size: number | null; next_after: number | null } =
      await api.get('GET', `/transparency/receipts?size=${next.size}&after=${next.after}&limit=10`)
    seen.push(...page.receipts.map(({ sequence }) => sequence))
    next = page.next_size === null ? undefined : { size: page.next_size, after: page.next_after ?? 0 }
  }
  t.equal(new Set(seen).size, 64)
})

test('receipts are no reason for another checkpoint', async (t) => {
  const before = signing.reader.last()?.size
  await signing.settle()
  now = Math.max(now, Date.now()) + 10_000
  await execute(createBucket('reason'))
  await signing.settle()
  const { size } = signing.reader.last() as CheckpointState
  t.not(size, before)
  await execute({
    kind: 'record-receipt',
    audit: systemAudit('checkpoints', 'checkpoint.receipt', 'log'),
    receipt: { size, kind: 'lock', giver: 's3://x/y', receipt: Buffer.alloc(8), assertedMicroseconds: undefined },
  })
  now = Math.max(now, Date.now()) + 10_000
  await signing.settle()
  t.equal(signing.reader.last()?.size, size)
})

test('a withheld checkpoint is not shown to anybody, and no other is signed, until it is published', async (t) => {
  const shown = signing.reader.last() as CheckpointState
  isWithheld = true
  now = Math.max(now, Date.now()) + 10_000
  await execute(createBucket('withheld'))
  await signing.settle()
  isWithheld = false
  const { last, withheld } = signing.reader.state()
  t.equal(withheld, last?.size)
  t.equal(signing.reader.last()?.size, shown.size)
  t.match((await api.send('GET', `${API}/transparency/checkpoint`)).body.toString(), new RegExp(`\\n${shown.size}\\n`))
  t.match(await api.call('GET', `/transparency/proof/inclusion?sequence=0&size=${withheld}`), { status: 404 })
  const { checkpoints } = await api.get<{ checkpoints: { size: number }[] }>('GET', '/transparency/checkpoints')
  t.equal(checkpoints.at(-1)?.size, shown.size)
  now = Math.max(now, Date.now()) + 10_000
  await execute(createBucket('waits'))
  await signing.settle()
  t.equal(signing.reader.state().last?.size, withheld, 'nothing is signed meanwhile')
  const publish = (size: number) =>
    execute({ kind: 'publish-checkpoint', audit: systemAudit('checkpoints', 'checkpoint.publish', 'log'), size })
  await publish(shown.size)
  t.equal(signing.reader.state().withheld, withheld, 'another one was meant')
  await publish(withheld as number)
  t.equal(signing.reader.last()?.size, withheld)
  await signing.settle()
  t.ok((signing.reader.last()?.size ?? 0) > (withheld as number), 'and it goes on')
})
