/** The extension listen: notifications of events as a stream, in S3's form. */
import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import tap, { test } from 'tap'
import { DAY, runPass } from '../../../support/lifecycle.ts'
import { allow, deny, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { setVersioning } from '../../../support/wire-versions.ts'

let now = Date.now()
const server = await startManaged({ extensions: ['listen', 'tagging'], clock: () => now })
tap.teardown(() => server.stop())
const { raw, wire, api } = server

interface Notification {
  readonly eventName: string
  readonly awsRegion: string
  readonly s3: {
    readonly bucket: { readonly name: string }
    readonly object?: { readonly key: string; readonly size: number; readonly eTag: string; readonly sequencer: string }
  }
}

type Query = readonly (readonly [name: string, value: string])[]

/** An open stream, and what has come of it so far. */
class Listener {
  readonly request: ClientRequest
  readonly response: IncomingMessage
  text = ''

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.request = request
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      this.text += piece
    })
    response.on('error', () => undefined)
  }

  /** Resolves when the server listens: it has sent the first blank. */
  static async open(path: string, query: Query, signing: object = {}): Promise<Listener> {
    const request = get(server.endpoint + wire.presigned('GET', path, { query, ...signing }), { agent: false })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const listener = new Listener(request, response)
    if (response.statusCode === 200) await listener.until((text) => text.startsWith(' '))
    return listener
  }

  async until(isEnough: (text: string) => boolean): Promise<void> {
    while (!isEnough(this.text)) await once(this.response, 'data')
  }

  async ended(): Promise<void> {
    if (!this.response.readableEnded) await once(this.response, 'end')
  }

  get notifications(): Notification[] {
    return this.text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .flatMap((line) => (JSON.parse(line) as { Records: Notification[] }).Records)
  }

  get told(): string[] {
    return this.notifications.map(({ eventName, s3 }) => `${eventName} ${s3.object?.key ?? s3.bucket.name}`)
  }
}

const ALL: Query = [
  ['events', 's3:ObjectCreated:*'],
  ['events', 's3:ObjectRemoved:*'],
]

async function bucket(name: string): Promise<string> {
  isDone(tap, await raw('PUT', `/${name}`), 200, name)
  return `/${name}`
}

test('writes, copies, uploads and deletions of a bucket, as they come, and nothing of what was before', async (t) => {
  const path = await bucket('heard')
  const other = await bucket('unheard')
  await raw('PUT', `${path}/before`, { body: 'x' })
  const listener = await Listener.open(path, ALL)
  t.match(listener.response.headers, { 'content-type': 'text/event-stream' })
  const put = await raw('PUT', `${path}/a%20key/(1)`, { body: 'four' })
  await raw('PUT', `${other}/elsewhere`, { body: 'x' })
  await raw('PUT', `${path}/a%20key/(1)`, { body: 'again' })
  await raw('PUT', `${path}/copy`, { headers: [['x-amz-copy-source', `${path}/before`]] })
  const { text } = await raw('POST', `${path}/parts?uploads`)
  const upload = /<UploadId>(.*)<\/UploadId>/.exec(text)?.[1] ?? ''
  const part = await raw('PUT', `${path}/parts?partNumber=1&uploadId=${upload}`, { body: 'part' })
  const listed = `<Part><PartNumber>1</PartNumber><ETag>${part.headers['etag']}</ETag></Part>`
  const body = `<CompleteMultipartUpload>${listed}</CompleteMultipartUpload>`
  isDone(t, await raw('POST', `${path}/parts?uploadId=${upload}`, { body }), 200, 'completed')
  await raw('DELETE', `${path}/copy`)
  await listener.until((got) => got.includes('Removed'))
  t.same(listener.told, [
    's3:ObjectCreated:Put a+key%2F%281%29',
    's3:ObjectCreated:Put a+key%2F%281%29',
    's3:ObjectCreated:Copy copy',
    's3:ObjectCreated:CompleteMultipartUpload parts',
    's3:ObjectRemoved:Delete copy',
  ])
  const [first, second] = listener.notifications
  t.match(first, {
    awsRegion: 'us-east-1',
    s3: { bucket: { name: 'heard' }, object: { size: 4, eTag: String(put.headers['etag']).replaceAll('"', '') } },
  })
  t.ok((first?.s3.object?.sequencer ?? '') < (second?.s3.object?.sequencer ?? ''), 'sequencers grow')
  t.equal(server.gate.active, 0, 'a listener holds no place of operations')
  listener.request.destroy()
})

test('tags that are set and removed', async (t) => {
  const path = await bucket('labelled')
  const listener = await Listener.open(path, [['events', 's3:ObjectTagging:*']])
  await raw('PUT', `${path}/key`, { body: 'four', headers: [['x-amz-tagging', 'born=yes']] })
  const body = '<Tagging><TagSet><Tag><Key>team</Key><Value>a</Value></Tag></TagSet></Tagging>'
  isDone(t, await raw('PUT', `${path}/key?tagging`, { body }), 200, 'set')
  isDone(t, await raw('DELETE', `${path}/key?tagging`), 204, 'removed')
  await listener.until((got) => got.includes('Tagging:Delete'))
  t.same(listener.told, ['s3:ObjectTagging:Put key', 's3:ObjectTagging:Delete key'])
  t.match(listener.notifications, [{ s3: { object: { size: 4 } } }, { s3: { object: { size: 4 } } }])
  listener.request.destroy()
})

test('only what was asked for: names, prefix and suffix', async (t) => {
  const path = await bucket('chosen')
  await setVersioning(server, 'chosen', 'enabled')
  const listener = await Listener.open(path, [
    ['events', 's3:ObjectCreated:Copy'],
    ['events', 's3:ObjectRemoved:*'],
    ['prefix', 'in/'],
    ['suffix', '.csv'],
  ])
  const written = await raw('PUT', `${path}/in/a.csv`, { body: 'x' })
  const version = String(written.headers['x-amz-version-id'])
  for (const key of ['in/b.csv', 'in/b.txt', 'out/b.csv']) {
    await raw('PUT', `${path}/${key}`, { headers: [['x-amz-copy-source', `${path}/in/a.csv`]] })
  }
  await raw('DELETE', `${path}/in/a.csv`)
  await raw('DELETE', `${path}/in/a.csv?versionId=${version}`)
  await listener.until((text) => text.includes('ObjectRemoved:Delete"'))
  t.same(listener.told, [
    's3:ObjectCreated:Copy in%2Fb.csv',
    's3:ObjectRemoved:DeleteMarkerCreated in%2Fa.csv',
    's3:ObjectRemoved:Delete in%2Fa.csv',
  ])
  listener.request.destroy()
})

test('events of all buckets, and buckets themselves', async (t) => {
  const listener = await Listener.open('/', [
    ['events', 's3:BucketCreated:*'],
    ['events', 's3:BucketRemoved:*'],
    ['events', 's3:ObjectAccessed:*'],
  ])
  const path = await bucket('short-lived')
  await raw('PUT', `${path}/key`, { body: 'x' })
  await raw('DELETE', `${path}/key`)
  await raw('DELETE', path)
  await listener.until((text) => text.includes('Removed'))
  t.same(listener.told, ['s3:BucketCreated:* short-lived', 's3:BucketRemoved:* short-lived'])
  listener.request.destroy()
})

test('what a lifecycle rule removes has names of its own', async (t) => {
  const path = await bucket('aged')
  await raw('PUT', `${path}/old`, { body: 'x' })
  await api.get('POST', '/buckets/aged/lifecycle', { expiration: 30, noncurrent_version_expiration: 30 })
  const removed = await Listener.open(path, [['events', 's3:ObjectRemoved:*']])
  const expired = await Listener.open(path, [['events', 's3:LifecycleExpiration:*']])
  now += 40 * DAY
  await runPass({ client: server.session.engine, catalog: server.session.catalog }, { now })
  now -= 40 * DAY
  await expired.until((text) => text.includes('old'))
  t.same(expired.told, ['s3:LifecycleExpiration:Delete old'])
  await raw('PUT', `${path}/new`, { body: 'x' })
  await raw('DELETE', `${path}/new`)
  await removed.until((text) => text.includes('new'))
  t.same(removed.told, ['s3:ObjectRemoved:Delete new'])
  for (const { request } of [removed, expired]) request.destroy()
})

test('pings are lines without records', async (t) => {
  const path = await bucket('quiet')
  const listener = await Listener.open(path, [...ALL, ['ping', '1']])
  await listener.until((text) => text.includes('\n'))
  t.equal(listener.text.trim(), '{"Records":[]}')
  listener.request.destroy()
})

test('names that S3 does not know, and other mistakes', async (t) => {
  const path = await bucket('mistaken')
  isError(t, await raw('GET', `${path}?events=s3%3AObjectPainted%3A*`), 'InvalidArgument', 'an unknown name')
  isError(t, await raw('GET', `${path}?events`), 'InvalidArgument', 'no name')
  isError(t, await raw('GET', `${path}?events=s3%3AObjectCreated%3A*&ping=soon`), 'InvalidArgument', 'no number')
  isError(t, await raw('GET', `${path}?events=s3%3AObjectCreated%3A*&prefix=a&prefix=b`), 'InvalidArgument', 'twice')
  isError(t, await raw('GET', '/nowhere?events=s3%3AObjectCreated%3A*'), 'NoSuchBucket', 'no bucket')
  isError(t, await raw('GET', `${path}?events=s3%3AObjectCreated%3A*`, { sign: false }), 'AccessDenied', 'unsigned')
})

test('an account needs the action, and its stream ends with it', async (t) => {
  const path = await bucket('guarded')
  const stranger = await newIdentity(server, [allow(['s3:GetObject', 's3:ListBucket'], 'bucket:guarded/*')])
  const target = `${path}?events=s3%3AObjectCreated%3A*`
  isError(t, await raw('GET', target, stranger.signing), 'AccessDenied', 'without the action')
  const actions = ['s3:ListenBucketNotification']
  const identity = await newIdentity(server, [allow(actions, 'bucket:guarded')])
  isError(t, await raw('GET', '/?events=s3%3AObjectCreated%3A*', identity.signing), 'AccessDenied', 'all buckets')
  const listener = await Listener.open(path, ALL, identity.signing.sign)
  await raw('PUT', `${path}/seen`, { body: 'x' })
  await listener.until((text) => text.includes('seen'))
  await api.get('DELETE', `/policies/${identity.policies[0]}/bindings/${identity.account.id}`)
  await listener.ended()
  t.same(listener.told, ['s3:ObjectCreated:Put seen'], 'it ended in good order')
})

test('a listener to all buckets hears nothing of those that are denied', async (t) => {
  await bucket('payroll')
  await bucket('public')
  const everything = allow(['s3:*'], 'bucket:*')
  for (const denied of ['s3:ListenBucketNotification', 's3:ListenNotification', 's3:*']) {
    const identity = await newIdentity(server, [everything, deny([denied], 'bucket:payroll')])
    const listener = await Listener.open('/', ALL, identity.signing.sign)
    await raw('PUT', '/payroll/secret', { body: 'x' })
    await raw('PUT', '/public/last', { body: 'x' })
    await listener.until((text) => text.includes('last'))
    t.same(listener.told, ['s3:ObjectCreated:Put last'], denied)
    listener.request.destroy()
  }
  const narrow = await newIdentity(server, [allow(['s3:ListenNotification'], 'bucket:*')])
  const listener = await Listener.open('/', ALL, narrow.signing.sign)
  await raw('PUT', '/payroll/secret', { body: 'x' })
  await listener.until((text) => text.includes('secret'))
  t.same(listener.told, ['s3:ObjectCreated:Put secret'], 'the action of all buckets is enough')
  await api.get('PUT', `/policies/${narrow.policies[0]}`, {
    name: 'narrower',
    statements: [allow(['s3:ListenNotification'], 'bucket:*'), deny(['s3:ListenBucketNotification'], 'bucket:payroll')],
  })
  await raw('PUT', '/payroll/later', { body: 'x' })
  await raw('PUT', '/public/last', { body: 'x' })
  await listener.until((text) => text.includes('last'))
  t.same(listener.told.slice(1), ['s3:ObjectCreated:Put last'], 'what is denied by now')
  listener.request.destroy()
})

test('a stream that a link opened ends with the link', async (t) => {
  const path = await bucket('lent')
  const began = now
  const listener = await Listener.open(path, ALL)
  await raw('PUT', `${path}/in-time`, { body: 'x' })
  await listener.until((text) => text.includes('in-time'))
  now += 8 * DAY
  await listener.ended()
  now = began
  t.same(listener.told, ['s3:ObjectCreated:Put in-time'])
})
