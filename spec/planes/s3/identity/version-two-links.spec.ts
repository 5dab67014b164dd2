/** Links signed with Signature Version 2: what the extension presign-v2 reads, and what it refuses by name. */
import { createHmac } from 'node:crypto'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { allow, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../../support/test-clients.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const server = await startManaged({ extensions: ['bucket-reads', 'presign-v2'] })
tap.teardown(() => server.stop())
const { raw } = server
const DAY = 24 * 60 * 60
await raw('PUT', '/links')
await raw('PUT', '/links?versioning', {
  body: '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
})
const versions: string[] = []
for (const body of ['one', 'two']) {
  const { headers } = await raw('PUT', '/links/a%20key/%C3%BC+', { body })
  versions.push(String(headers['x-amz-version-id']))
}
const PATH = '/links/a%20key/%C3%BC+'

interface Made {
  readonly method?: string
  readonly path?: string
  /** Encoded, as in the link; a part of what is signed. */
  readonly parameters?: readonly (readonly [name: string, value?: string | undefined])[]
  /** Seconds from now. */
  readonly life?: number
  readonly accessKey?: string
  readonly secretKey?: string
  /** Signed lines, in lower case and sorted. */
  readonly lines?: readonly HeaderLine[]
}

/** A link, signed by the page of AWS and without a line of the server's code. */
function linkOf(made: Made = {}): string {
  const { method = 'GET', path = PATH, parameters = [], life = 60, lines = [] } = made
  const { accessKey = ACCESS_KEY, secretKey = SECRET_KEY } = made
  const expires = String(Math.floor(Date.now() / 1000) + life)
  const named = parameters.toSorted(([left], [right]) => (left < right ? -1 : 1))
  const signed = named.map(([name, value]) => (value === undefined ? name : `${name}=${decodeURIComponent(value)}`))
  const resource = signed.length === 0 ? path : `${path}?${signed.join('&')}`
  const heads = lines.map(([name, value]) => `${name}:${value}\n`).join('')
  const text = `${method}\n\n\n${expires}\n${heads}${resource}`
  const signature = createHmac('sha1', secretKey).update(text).digest('base64')
  const own = [`AWSAccessKeyId=${accessKey}`, `Expires=${expires}`, `Signature=${encodeURIComponent(signature)}`]
  const shown = parameters.map(([name, value]) => (value === undefined ? name : `${name}=${value}`))
  return `${path}?${[...shown, ...own].join('&')}`
}

const get = (link: string, headers: readonly HeaderLine[] = []) => raw('GET', link, { sign: false, headers })

test('a link reads an object, with the parameters that it signs', async (t) => {
  t.match(await get(linkOf()), { status: 200, text: 'two' })
  t.match(await get(linkOf(), [['range', 'bytes=1-']]), { status: 206, text: 'wo' })
  t.equal((await raw('HEAD', linkOf({ method: 'HEAD' }), { sign: false })).status, 200)
  t.match(await get(linkOf({ parameters: [['versionId', versions[0]]] })), { status: 200, text: 'one' })
  const parameters = [
    ['response-content-type', 'text%2Fx-other'],
    ['response-content-disposition', 'attachment%3B%20filename%3D%22a%20b.txt%22'],
    ['versionId', versions[0]],
  ] as const
  const answer = await get(linkOf({ parameters }))
  t.match(answer, { status: 200, text: 'one' })
  t.match(answer.headers, { 'content-type': 'text/x-other', 'content-disposition': 'attachment; filename="a b.txt"' })
  isDone(t, await get(linkOf({ parameters: [['acl']] })), 200, 'a subresource')
  isDone(t, await get(linkOf({ lines: [['x-amz-meta-a', 'b']] }), [['x-amz-meta-a', 'b']]), 200, 'a signed header')
  isDone(t, await get(linkOf().replaceAll('%2B', '+')), 200, 'a plus sign that was not encoded')
})

test('whatever the signature covers cannot be changed', async (t) => {
  const wrong = async (link: string, message: string, headers: readonly HeaderLine[] = []) =>
    isError(t, await get(link, headers), 'SignatureDoesNotMatch', message)
  await wrong(linkOf().replace('a%20key', 'other'), 'path')
  await wrong(linkOf({ method: 'HEAD' }), 'method')
  await wrong(linkOf({ secretKey: `${SECRET_KEY}x` }), 'secret')
  await wrong(`${linkOf()}&versionId=${versions[0]}`, 'an added version')
  await wrong(`${linkOf()}&response-content-type=text/html`, 'an added override')
  await wrong(`${linkOf()}&acl`, 'an added subresource')
  await wrong(linkOf({ parameters: [['versionId', versions[0]]] }).replace(/versionId=[^&]*/, ''), 'a removed version')
  await wrong(
    linkOf().replace(/Expires=(\d+)/, (_, at) => `Expires=${Number(at) + 1}`),
    'a longer life',
  )
  await wrong(linkOf(), 'an added header', [['x-amz-meta-a', 'b']])
  await wrong(linkOf(), 'a type', [['content-type', 'text/plain']])
  for (const signature of ['x', 'A'.repeat(27), `${'A'.repeat(27)}=`, `${'A'.repeat(28)}=`, 'ü'.repeat(14)])
    await wrong(linkOf().replace(/Signature=.*$/, `Signature=${encodeURIComponent(signature)}`), signature)
})

test('parameters of a link cannot be joined to one, nor can one that holds others be used', async (t) => {
  const version = versions[0] ?? ''
  const parameters = [
    ['response-content-type', 'text%2Fplain'],
    ['versionId', version],
  ] as const
  const link = linkOf({ parameters })
  t.match(await get(link), { status: 200, text: 'one' })
  const joined = link.replace(`&versionId=${version}`, `%26versionId%3D${version}`)
  isError(t, await get(joined), 'AccessDenied', 'the current version is not what was signed')
  const whole = linkOf({ parameters: [['response-content-disposition', 'inline%26acl']] })
  isError(t, await get(whole), 'AccessDenied', 'a name without a value')
  const plain = linkOf({ parameters: [['response-content-disposition', 'attachment%3B%20filename%3D%22a%26b%3Dc%22']] })
  isDone(t, await get(plain), 200, 'other values with &')
})

test('what the signature does not cover, and forms that cannot be read, are refused by name', async (t) => {
  const denied = async (link: string, message: string) => isError(t, await get(link), 'AccessDenied', message)
  for (const more of ['prefix=a', 'x-amz-meta-a=b', 'list-type=2', 'X-Amz-Signature=x', 'attributes', 'x-id=GetObject'])
    await denied(`${linkOf()}&${more}`, more)
  for (const name of ['AWSAccessKeyId', 'Expires', 'Signature']) {
    await denied(`${linkOf()}&${name}=1`, `${name} twice`)
    if (name !== 'AWSAccessKeyId') await denied(linkOf().replace(new RegExp(`&${name}=[^&]*`), ''), `no ${name}`)
  }
  for (const expires of ['', '-1', '1e9', '1.5', '9'.repeat(13), 'x'])
    await denied(linkOf().replace(/Expires=\d+/, `Expires=${expires}`), `Expires=${expires}`)
  await denied(linkOf({ accessKey: 'A'.repeat(129) }), 'a long access key')
  for (const method of ['PUT', 'DELETE', 'POST'])
    isError(t, await raw(method, linkOf({ method }), { sign: false }), 'AccessDenied', method)
  isError(t, await raw('GET', linkOf()), 'InvalidArgument', 'a link with a signed header')
  t.match((await raw('GET', PATH)).text, 'two', 'nothing was changed')
})

test('a link expires, and lives for seven days at most', async (t) => {
  isError(t, await get(linkOf({ life: -1 })), 'AccessDenied', 'expired')
  isDone(t, await get(linkOf({ life: 7 * DAY - 5 })), 200, 'seven days')
  const long = await get(linkOf({ life: 7 * DAY + 60 }))
  isError(t, long, 'AccessDenied', 'more than seven days')
  t.match(long.text, 'Expires must be at most seven days from now')
})

test('an account reads by link what its policies allow, until its credential is disabled', async (t) => {
  const identity = await newIdentity(server, [allow(['s3:GetObject'], 'bucket:links/a*')])
  identity.s3.destroy()
  const { access_key: accessKey, secret_key: secretKey, credential_id: id } = identity.credential
  const link = (path: string) => linkOf({ accessKey, secretKey, path })
  isDone(t, await get(link(PATH)), 200, 'allowed')
  t.match((await server.journal()).at(-1), { principal: `service_account:${identity.account.id}`, result: 'success' })
  isError(t, await get(link('/links/b')), 'AccessDenied', 'not allowed')
  const repeated = link(PATH)
  isDone(t, await get(repeated), 200, 'once')
  isDone(t, await get(repeated), 200, 'and again')
  await server.api.get('PUT', `/service-accounts/${identity.account.id}/credentials/${id}/status`, { enabled: false })
  isError(t, await get(repeated), 'InvalidAccessKeyId', 'disabled')
  t.match((await server.journal()).at(-1)?.details.get('signature'), 'valid', 'the record says who signed')
  isError(t, await get(linkOf({ accessKey: 'UNKNOWN' })), 'InvalidAccessKeyId', 'unknown')
})

test('in strict a link is refused as before, with the way to have it read', async (t) => {
  const strict = await startInThread()
  t.teardown(() => strict.stop())
  const answer = await strict.raw('GET', linkOf(), { sign: false })
  isError(t, answer, 'InvalidRequest', 'strict')
  t.match(answer.text, /mechanism you have provided is not supported.+presign-v2 in s3\.extensions/)
  const put = await strict.raw('PUT', linkOf({ method: 'PUT' }), { sign: false })
  isError(t, put, 'InvalidRequest', 'strict')
  t.notMatch(put.text, 'presign-v2')
})
