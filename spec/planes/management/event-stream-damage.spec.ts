/** The stream of storage events past records that cannot be read: in lines of JSON, as server-sent events, with exact cursors. */
import tap, { test } from 'tap'
import { flipByteInPlace, segmentPath } from '../../support/journal-files.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'
import { allEvents } from '../../support/storage-events.ts'
import { createBucket, put } from '../../support/wire-versions.ts'

const server = await startManaged({ segmentBytes: 16 * 1024 })
tap.teardown(() => server.stop())
const { api } = server

await createBucket(server, 'streamed')
for (let index = 0; index < 90; index += 1) await put(server, `streamed/${index}`, 'x')
const whole = await allEvents(api)
flipByteInPlace(segmentPath(server.paths, 1), 3000)
flipByteInPlace(segmentPath(server.paths, 2), 3000)

interface Damage {
  readonly id: string
  readonly sequence: number
  readonly last_sequence: number
}
interface Line {
  readonly id?: string
  readonly damage?: Damage
}

async function textOf(query: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const url = `${server.apiEndpoint}/api/v1/events/stream?follow=false&${query}`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${SYSTEM_TOKEN}`, ...headers } })
  return answer.text()
}

async function linesOf(query = ''): Promise<Line[]> {
  const text = await textOf(query)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

const idOf = ({ id, damage }: Line) => id ?? damage?.id ?? ''

test('all else is in the stream, and each part that cannot be read is a line in its place', async (t) => {
  const lines = await linesOf()
  const damage = lines.flatMap((line) => line.damage ?? [])
  const isMissing = (id: string) => {
    const sequence = Number(id.slice(0, 16))
    return damage.some((run) => run.sequence <= sequence && sequence <= run.last_sequence)
  }
  t.match(damage, [
    { verdict: 'content changed', segment: /segment$/, offset: Number, id: /^\d{16}-9999$/ },
    { verdict: 'content changed', segment: /segment$/, offset: Number, id: /^\d{16}-9999$/ },
  ])
  t.same(
    lines.filter((line) => line.damage === undefined),
    whole.filter(({ id }) => !isMissing(id)),
  )
  t.same(lines.map(idOf), lines.map(idOf).toSorted(), 'in the order of the journal')
  const page = await api.get<{ damage: readonly Damage[] }>('GET', '/events?limit=1000')
  t.same(
    damage,
    page.damage.map((run) => ({ ...run, id: `${String(run.last_sequence).padStart(16, '0')}-9999` })),
    'the same that a page names',
  )
})

test('continued after any line, it has exactly the rest', async (t) => {
  const lines = await linesOf()
  for (const [index, line] of lines.entries()) {
    const rest = await linesOf(`after_id=${idOf(line)}`)
    if (JSON.stringify(rest) !== JSON.stringify(lines.slice(index + 1)))
      t.same(rest, lines.slice(index + 1), idOf(line))
  }
  t.ok(lines.length > 80)
})

test('server-sent events have an event damage with its id', async (t) => {
  const text = await textOf('', { accept: 'text/event-stream' })
  const [first] = (await linesOf()).flatMap(({ damage }) => damage ?? [])
  t.ok(text.includes(`id: ${first?.id}\nevent: damage\ndata: ${JSON.stringify(first)}\n\n`))
})

test('a filter leaves no damage out, since what is missing may have been of its bucket', async (t) => {
  t.match(await linesOf('bucket=none'), [{ damage: {} }, { damage: {} }])
})

test('a stream that follows names it once, continues, and counts it', async (t) => {
  const before = server.slots.region(0)[server.slots.damageSlot('audit')] ?? 0
  const url = `${server.apiEndpoint}/api/v1/events/stream?progress=true`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${SYSTEM_TOKEN}` } })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (sign: string) => {
    while (!text.includes(sign)) text += (await reader.read()).value ?? ''
  }
  await until('"progress"')
  await put(server, 'streamed/after', 'x')
  await until('"object":"after"')
  await reader.cancel()
  t.equal(text.split('"damage"').length - 1, 2)
  t.ok((server.slots.region(0)[server.slots.damageSlot('audit')] ?? 0) > before)
})
