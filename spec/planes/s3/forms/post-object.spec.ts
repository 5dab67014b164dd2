/** Forms of browsers over the wire: what is written and answered, who may, and what is refused by which code. */
import { hash } from 'node:crypto'
import tap, { test } from 'tap'
import { allow, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import {
  encodedForm,
  type Field,
  type FileOptions,
  FORM_HEAD,
  type FormOptions,
  signedFields,
} from '../../../support/post-forms.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { firstElement } from '../../../support/wire-client.ts'

const server = await startManaged({ extensions: ['post-object', 'tagging', 'bucket-reads', 'append'] })
tap.teardown(() => server.stop())
const { raw } = server
await raw('PUT', '/forms')

type Options = Omit<FormOptions, 'bucket'> &
  FileOptions & { readonly bucket?: string; readonly target?: string; readonly file?: Buffer | string }

async function post(fields: readonly Field[], options: Options = {}) {
  const { bucket = 'forms', target = `/${bucket}`, file = 'bytes of a file' } = options
  const body = encodedForm(signedFields({ ...options, bucket, fields }), file, options)
  return raw('POST', target, { sign: false, headers: FORM_HEAD, body })
}

const key = (value: string): Field => ['key', value]

test('a form writes its file, with the fields as headers', async (t) => {
  const fields: Field[] = [
    key('a/ü b.txt'),
    ['Content-Type', 'text/plain'],
    ['Cache-Control', 'no-store'],
    ['X-Amz-Meta-Of', 'a form'],
    ['acl', 'private'],
    ['tagging', '<Tagging><TagSet><Tag><Key>a + b</Key><Value>+c</Value></Tag></TagSet></Tagging>'],
  ]
  const answer = await post(fields)
  isDone(t, answer, 204, 'written')
  const etag = `"${hash('md5', 'bytes of a file')}"`
  t.match(answer.headers, { etag, location: `${server.endpoint}/forms/a/%C3%BC%20b.txt` })
  const got = await raw('GET', '/forms/a/%C3%BC%20b.txt')
  t.equal(got.text, 'bytes of a file')
  const headers = { 'content-type': 'text/plain', 'cache-control': 'no-store', 'x-amz-meta-of': 'a form' }
  t.match(got.headers, { ...headers, 'x-amz-tagging-count': '1' })
  t.match((await raw('GET', '/forms/a/%C3%BC%20b.txt?tagging')).text, '<Key>a + b</Key><Value>+c</Value>')
  const [attempt, outcome] = (await server.journal()).filter(({ details }) => details.get('api') === 'PostObject')
  const resource = 'bucket:forms/a/ü b.txt'
  t.match(attempt, { principal: 'system:root', operation: 's3:POST', result: 'attempted', resource })
  t.match(outcome, { principal: 'system:root', operation: 's3:POST', result: 'success', resource })
})

test('the answer is the one that the form asks for', async (t) => {
  for (const [status, got] of [
    ['200', 200],
    ['204', 204],
    ['999', 204],
  ] as const) {
    const answer = await post([key('s'), ['success_action_status', status]])
    isDone(t, answer, got, status)
    t.equal(answer.text, '')
  }
  const made = await post([key('dir/s'), ['success_action_status', '201']])
  isDone(t, made, 201, '201')
  const location = `${server.endpoint}/forms/dir/s`
  t.match(made.headers, { location, 'content-type': 'application/xml' })
  t.equal(firstElement(made.text, 'Location'), location)
  t.equal(firstElement(made.text, 'Key'), 'dir/s')
  t.equal(firstElement(made.text, 'Bucket'), 'forms')
  t.match(firstElement(made.text, 'ETag'), made.headers.etag)
})

test('a redirection has bucket, key and ETag in its query, and goes to HTTP alone', async (t) => {
  const to = async (url: string, name = 'success_action_redirect') => {
    const { status, headers } = await post([key('a b'), [name, url], ['success_action_status', '200']])
    return { status, location: String(headers.location) }
  }
  const added = `bucket=forms&key=a%20b&etag=%22${hash('md5', 'bytes of a file')}%22`
  t.same(await to('https://example.com/done'), { status: 303, location: `https://example.com/done?${added}` })
  t.same(await to('http://example.com/d?x=1#part'), { status: 303, location: `http://example.com/d?x=1&${added}#part` })
  t.same(await to('https://example.com', 'redirect'), { status: 303, location: `https://example.com/?${added}` })
  for (const url of [
    '/relative',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://a/',
    'https://',
    'x',
    '//example.com/',
  ])
    t.equal((await to(url)).status, 200, url)
  const { status, headers } = await post([key('a'), ['success_action_redirect', 'https://exämple.com/ä\r\nx: y']])
  t.equal(status, 303)
  t.match(headers.location, /^https:\/\/xn--exmple-cua\.com\/%C3%A4x:%20y\?bucket/, 'no line of its own')
})

test('${filename} is the name of the file without its directories', async (t) => {
  const named = async (fileName: string | undefined, field = 'u/${filename}') => {
    const conditions = [['starts-with', '$key', 'u/']]
    const answer = await post([], { conditions, uncovered: [key(field), ['x-ignore-a', 'b']], fileName })
    isDone(t, answer, 204, String(fileName))
    return decodeURIComponent(String(answer.headers.location).slice(`${server.endpoint}/forms/`.length))
  }
  t.equal(await named('a.txt'), 'u/a.txt')
  t.equal(await named('C:\\Program Files\\dir\\b.txt'), 'u/b.txt')
  t.equal(await named('x/y/c.txt'), 'u/c.txt')
  t.equal(await named('ü €.txt'), 'u/ü €.txt')
  t.equal(await named('$&.txt'), 'u/$&.txt', 'no pattern of a replacement')
  t.equal(await named(''), 'u/', 'no file was chosen')
  t.equal(await named('d.txt', 'u/${filename}/${filename}'), 'u/d.txt/d.txt')
})

test('a condition that does not hold is named, and nothing is written', async (t) => {
  const before = (await raw('GET', '/forms?list-type=2&prefix=no')).text.length
  const denied = async (message: string, fields: readonly Field[], options: Options = {}) => {
    const answer = await post(fields, options)
    isError(t, answer, 'AccessDenied', message)
    t.equal(
      firstElement(answer.text, 'Message')?.replaceAll('&quot;', '"'),
      `Invalid according to Policy: ${message}`,
      message,
    )
  }
  await denied('Policy expired.', [key('no')], { expires: Date.now() - 1000 })
  await denied('Policy Condition failed: ["starts-with", "$key", "u/"]', [key('no')], {
    conditions: [['starts-with', '$key', 'u/']],
  })
  await denied('Policy Condition failed: ["eq", "$acl", "private"]', [key('no')], { conditions: [{ acl: 'private' }] })
  await denied('Policy Condition failed: ["eq", "$bucket", "forms"]', [key('no')], {
    bucket: 'forms',
    target: '/other',
  })
  await denied('Extra input fields: x-amz-meta-a', [key('no')], { uncovered: [['X-Amz-Meta-A', 'b']] })
  await denied('Extra input fields: success_action_redirect', [key('no')], {
    uncovered: [['success_action_redirect', 'https://example.com']],
  })
  await denied('Policy Condition failed: ["content-length-range", "x", 5]', [key('no')], {
    conditions: [['content-length-range', 'x', 5]],
  })
  t.equal((await raw('GET', '/forms?list-type=2&prefix=no')).text.length, before)
})

test('a policy that cannot be read is refused as one', async (t) => {
  const expiration = new Date(Date.now() + 60_000).toISOString()
  const document = { expiration, conditions: [] }
  for (const policy of [
    'x',
    '[]',
    'null',
    JSON.stringify({ ...document, expiration: 'soon' }),
    JSON.stringify({ conditions: [] }),
    JSON.stringify({ expiration }),
    JSON.stringify({ EXPIRATION: expiration, conditions: [] }),
    JSON.stringify({ expiration, conditions: {} }),
    JSON.stringify({ expiration, conditions: [{}] }),
    JSON.stringify({ expiration, conditions: [{ a: 'b', c: 'd' }] }),
    JSON.stringify({ expiration, conditions: [{ a: 1 }] }),
    JSON.stringify({ expiration, conditions: ['a'] }),
  ])
    isError(t, await post([key('no')], { policy }), 'InvalidPolicyDocument', policy)
})

function sized(file: Buffer | string, ...range: readonly unknown[]) {
  return post([key('sized')], { conditions: [['content-length-range', ...range]], file })
}

test('the file is as long as the policy says', async (t) => {
  isDone(t, await sized('12345', 5, 10), 204, 'the least')
  isDone(t, await sized('1234567890', '5', '10'), 204, 'the most, as texts')
  const large = await sized('1'.repeat(11), 5, 10)
  isError(t, large, 'EntityTooLarge', 'one more')
  t.equal(firstElement(large.text, 'MaxSizeAllowed'), '10')
  const small = await sized('1', 5, 10)
  isError(t, small, 'EntityTooSmall', 'less')
  t.match([firstElement(small.text, 'ProposedSize'), firstElement(small.text, 'MinSizeAllowed')], ['1', '5'])
  isError(t, await sized(Buffer.alloc(2_000_000), 0, 1_900_000), 'EntityTooLarge', 'a long file')
  isError(
    t,
    await sized(Buffer.alloc(2_000_000), 2_000_001, 3_000_000),
    'EntityTooSmall',
    'a long file that is too short',
  )
  isDone(t, await sized(Buffer.alloc(2_000_000), 2_000_000, 2_000_000), 204, 'a long file')
  isDone(t, await sized('', 0, 0), 204, 'nothing')
  t.equal((await raw('HEAD', '/forms/sized')).headers['content-length'], '0')
})

test('who signs a form is who writes, with what the policies of the account allow', async (t) => {
  const identity = await newIdentity(server, [allow(['s3:PutObject'], 'bucket:forms/mine/*')])
  identity.s3.destroy()
  const { access_key: accessKey, secret_key: secretKey, credential_id: id } = identity.credential
  const own = { accessKey, secretKey }
  isDone(t, await post([key('mine/a')], own), 204, 'allowed')
  t.match((await server.journal()).at(-1), { principal: `service_account:${identity.account.id}`, result: 'success' })
  isError(t, await post([key('yours/a')], own), 'AccessDenied', 'another key')
  const tagging: Field = ['tagging', '<Tagging><TagSet/></Tagging>']
  isError(t, await post([key('mine/a'), tagging], own), 'AccessDenied', 'tags need a permission of their own')
  isError(t, await post([key('mine/a'), ['x-amz-object-lock-legal-hold', 'ON']], own), 'AccessDenied', 'so do locks')
  isError(t, await post([key('mine/a')], { ...own, secretKey: 'wrong' }), 'SignatureDoesNotMatch', 'another secret')
  isError(t, await post([key('mine/a')], { accessKey: 'UNKNOWN' }), 'InvalidAccessKeyId', 'an unknown key')
  await server.api.get('PUT', `/service-accounts/${identity.account.id}/credentials/${id}/status`, { enabled: false })
  isError(t, await post([key('mine/a')], own), 'InvalidAccessKeyId', 'a disabled key')
  const last = (await server.journal()).at(-1)
  t.match(last, { principal: 'anonymous', result: 'denied' })
  t.equal(last?.details.get('signature'), 'valid', 'the record says who signed')
})

test('a form that is not signed well is refused by what is missing', async (t) => {
  const send = (fields: readonly Field[], headers: readonly Field[] = FORM_HEAD) =>
    raw('POST', '/forms', { sign: false, headers, body: encodedForm(fields, 'x') })
  const signed = signedFields({ bucket: 'forms', fields: [key('no')] })
  const without = (...names: readonly string[]) => signed.filter(([name]) => !names.includes(name))
  isError(t, await send([key('no')]), 'AccessDenied', 'anonymous')
  isError(t, await send([key('no'), ['policy', 'x']]), 'AccessDenied', 'anonymous with a policy')
  for (const [name, shown] of [
    ['policy', 'Policy'],
    ['x-amz-algorithm', 'X-Amz-Algorithm'],
    ['x-amz-credential', 'X-Amz-Credential'],
    ['x-amz-date', 'X-Amz-Date'],
    ['x-amz-signature', 'X-Amz-Signature'],
  ] as const) {
    const answer = await send(without(name))
    isError(t, answer, 'InvalidArgument', name)
    t.equal(firstElement(answer.text, 'ArgumentName'), shown)
  }
  const two = await send([key('no'), ['AWSAccessKeyId', 'k'], ['policy', 'x'], ['signature', 'y']])
  isError(t, two, 'InvalidRequest', 'version 2')
  t.match(two.text, 'mechanism you have provided is not supported')
  const noKey = await send(signedFields({ bucket: 'forms' }))
  isError(t, noKey, 'InvalidArgument', 'no key')
  t.match(noKey.text, 'must contain a field named &apos;key&apos;')
  isError(t, await send([...signed, key('twice')]), 'InvalidArgument', 'a field twice')
  const policy = signed.find(([name]) => name === 'policy')?.[1] ?? ''
  const cut = signed.map(([name, value]): Field => [name, name === 'policy' ? policy.slice(0, -2) : value])
  isError(t, await send(cut), 'SignatureDoesNotMatch', 'a policy that was cut')
  isError(t, await send(signed, [...FORM_HEAD, ['x-amz-acl', 'private']]), 'AccessDenied', 'an unsigned header')
  isError(
    t,
    await raw('POST', '/forms', { headers: FORM_HEAD, body: encodedForm(signed, 'x') }),
    'InvalidArgument',
    'signed in its head',
  )
  isError(t, await raw('POST', '/forms', { body: 'x' }), 'PreconditionFailed', 'no form')
  isError(t, await raw('POST', '/forms', { sign: false, body: 'x' }), 'AccessDenied', 'nothing')
  isError(t, await post([key('no')], { target: '/forms?versionId=null' }), 'InvalidArgument', 'a version')
  isError(t, await post([key('no')], { bucket: 'absent' }), 'NoSuchBucket', 'no bucket')
  isError(t, await post([key('k'.repeat(1025))]), 'KeyTooLongError', 'a long key')
  isError(t, await post([key('no'), ['bucket', 'other']]), 'InvalidRequest', 'a field of another bucket')
  isError(t, await post([key('no')], { now: Date.now() + 3_600_000 }), 'AccessDenied', 'from the future')
  t.notMatch((await raw('GET', '/forms?list-type=2')).text, '<Key>no</Key>')
})

test('fields that PutObject refuses are refused, and checksums are compared', async (t) => {
  const sha = hash('sha256', 'bytes of a file', 'base64')
  const good = await post([key('sum'), ['x-amz-checksum-sha256', sha], ['x-amz-checksum-algorithm', 'SHA256']])
  isDone(t, good, 204, 'a checksum')
  t.equal(good.headers['x-amz-checksum-sha256'], sha)
  const of = async (...fields: readonly Field[]) => post([key('no'), ...fields])
  isError(t, await of(['x-amz-checksum-sha256', hash('sha256', 'x', 'base64')]), 'BadDigest', 'another checksum')
  isError(t, await of(['Content-MD5', hash('md5', 'x', 'base64')]), 'BadDigest', 'another MD5')
  isError(t, await of(['x-amz-checksum-algorithm', 'SHA256']), 'InvalidRequest', 'no checksum beside its algorithm')
  isError(t, await of(['acl', 'public-read']), 'NotImplemented', 'a public ACL')
  isError(t, await of(['x-amz-storage-class', 'GLACIER']), 'NotImplemented', 'a storage class')
  isError(t, await of(['x-amz-security-token', 'x']), 'NotImplemented', 'a session')
  isError(t, await of(['x-amz-write-offset-bytes', '0']), 'NotImplemented', 'an append')
  isError(t, await of(['x-amz-copy-source', 'forms/sum']), 'InvalidArgument', 'a copy')
  isError(t, await of(['tagging', 'not-xml']), 'MalformedXML', 'tags that are none')
  isError(t, await of(['x-amz-meta-a', 'b\r\nc: d']), 'InvalidArgument', 'a line of its own')
  isError(t, await of(['x-amz-object-lock-legal-hold', 'ON']), 'InvalidRequest', 'no Object Lock')
})

test('versions, locks and quotas are as for PutObject; what comes after the file is ignored', async (t) => {
  await raw('PUT', '/locked', { headers: [['x-amz-bucket-object-lock-enabled', 'true']] })
  await raw('PUT', '/locked?object-lock', {
    body: '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>',
  })
  const after: Field[] = [
    ['key', 'other'],
    ['x-amz-signature', 'x'],
    ['submit', 'Upload'],
  ]
  const answer = await post([key('v')], { bucket: 'locked', after })
  isDone(t, answer, 204, 'written')
  const head = await raw('HEAD', '/locked/v')
  t.equal(head.headers['x-amz-version-id'], answer.headers['x-amz-version-id'])
  t.match(head.headers, { 'x-amz-object-lock-mode': 'GOVERNANCE', 'content-length': '15' })
  await server.api.get('PUT', '/buckets/locked/quota', {
    quota: { bytes: { mode: 'limit', bytes: 20 }, objects: { mode: 'unlimited' } },
  })
  isError(t, await post([key('w')], { bucket: 'locked' }), 'QuotaExceeded', 'more than the quota')
  const conditional = await raw('POST', '/locked', {
    sign: false,
    headers: [...FORM_HEAD, ['if-none-match', '*']],
    body: encodedForm(signedFields({ bucket: 'locked', fields: [key('v')] }), ''),
  })
  isError(t, conditional, 'PreconditionFailed', 'a condition of the head')
})

test('a page of another origin reads the answer where the CORS rules let it', async (t) => {
  await raw('PUT', '/forms?cors', {
    body: '<CORSConfiguration><CORSRule><AllowedOrigin>https://app.example</AllowedOrigin><AllowedMethod>POST</AllowedMethod><ExposeHeader>ETag</ExposeHeader></CORSRule></CORSConfiguration>',
  })
  const from = (origin: string, fields: readonly Field[]) =>
    raw('POST', '/forms', { sign: false, headers: [...FORM_HEAD, ['origin', origin]], body: encodedForm(fields, 'x') })
  const signed = signedFields({ bucket: 'forms', fields: [key('cors')] })
  const headers = { 'access-control-allow-origin': 'https://app.example', 'access-control-expose-headers': 'ETag' }
  t.match((await from('https://app.example', signed)).headers, headers)
  t.match(await from('https://app.example', [key('cors')]), { status: 403, headers }, 'also of a refusal')
  t.equal((await from('https://other.example', signed)).headers['access-control-allow-origin'], undefined)
})

test('in strict a form is refused by name, signed or not, and recorded', async (t) => {
  const strict = await startInThread()
  t.teardown(() => strict.stop())
  await strict.raw('PUT', '/forms')
  const body = encodedForm(signedFields({ bucket: 'forms', fields: [key('a')] }), 'x')
  for (const sign of [false, {}] as const) {
    const answer = await strict.raw('POST', '/forms', { sign, headers: FORM_HEAD, body })
    isError(t, answer, 'NotImplemented', 'strict')
    t.match(answer.text, /^.*PostObject is not supported by this server\. .*post-object in s3\.extensions/s)
    t.equal((await strict.journal()).at(-1)?.details.get('api'), 'PostObject')
  }
})
