/**
 * Forms of browsers and links of version 2: what a visitor of a page holds is a form or a link that somebody else has signed. Nothing that
 * their signature covers can be changed, and nothing can be added that it does not cover.
 */
import { createHmac } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { encodedForm, type Field, FORM_HEAD, type FormOptions, signedFields } from '../../support/post-forms.ts'
import { requestBytes } from '../../support/raw/request-text.ts'
import { type Arena, BUCKET, KEY, OTHER_BUCKET, type Signer, type Signers } from './arena.ts'
import type { Assault } from './assault.ts'

interface Case {
  readonly name: string
  readonly method: string
  readonly target: string
  readonly headers: readonly HeaderLine[]
  readonly body: string
  /** What it must be refused with; none for what is let in. */
  readonly codes: readonly string[]
}

const DENIED = ['AccessDenied']
const FORGED = ['SignatureDoesNotMatch', 'InvalidAccessKeyId', 'InvalidArgument', 'AccessDenied']
const FORM_KEY = 'of a form'

interface Sent extends Partial<FormOptions> {
  readonly sender?: keyof Signers
  readonly target?: string
  readonly headers?: readonly HeaderLine[]
  /** Changes the signed fields. */
  readonly change?: (fields: readonly Field[]) => readonly Field[]
}

function formOf({ signers }: Arena, name: string, codes: readonly string[], sent: Sent = {}): Case {
  const { sender = 'everything', change = (fields) => fields, target = `/${BUCKET}`, headers = [] } = sent
  const fields: readonly Field[] = sent.fields ?? [['key', FORM_KEY]]
  const signed = signedFields({ bucket: BUCKET, ...signers[sender], ...sent, fields })
  const body = encodedForm(change(signed), 'bytes of a form').toString()
  return { name: `form: ${name}`, method: 'POST', target, headers: [...FORM_HEAD, ...headers], body, codes }
}

function changed(name: string, value: string): (fields: readonly Field[]) => readonly Field[] {
  return (fields) => fields.map((field): Field => (field[0] === name ? [name, value] : field))
}

function added(...fields: readonly Field[]): (others: readonly Field[]) => readonly Field[] {
  return (others) => [...others, ...fields]
}

function valueOf(fields: readonly Field[], name: string): string {
  return fields.find(([one]) => one === name)?.[1] ?? ''
}

function formsOf(arena: Arena): Case[] {
  const form = (name: string, codes: readonly string[], sent?: Sent) => formOf(arena, name, codes, sent)
  const signed = signedFields({ bucket: BUCKET, fields: [['key', FORM_KEY]], ...arena.signers.everything })
  const other = signedFields({ bucket: OTHER_BUCKET, fields: [['key', FORM_KEY]], ...arena.signers.elsewhere })
  return [
    form('signed well', []),
    ...(['denied', 'nothing', 'elsewhere', 'reader'] as const).map((sender) => form(sender, DENIED, { sender })),
    ...(['accountDisabled', 'accountDeleted', 'credentialDisabled', 'expired'] as const).map((sender) =>
      form(sender, ['InvalidAccessKeyId'], { sender }),
    ),
    ...['x-amz-signature', 'x-amz-credential', 'x-amz-date', 'x-amz-algorithm', 'policy'].flatMap((name) => [
      form(`${name} of another form`, FORGED, { change: changed(name, `${valueOf(other, name)}0`) }),
      form(`${name} empty`, FORGED, { change: changed(name, '') }),
      form(`no ${name}`, FORGED, { change: (fields) => fields.filter(([one]) => one !== name) }),
    ]),
    form('no signature at all', DENIED, { change: () => [['key', FORM_KEY]] }),
    form('a policy of somebody else', FORGED, { change: changed('policy', valueOf(other, 'policy')) }),
    form('a policy that was cut', FORGED, { change: changed('policy', valueOf(signed, 'policy').slice(0, -4)) }),
    form('another key', DENIED, { change: changed('key', KEY) }),
    form('a key twice', ['InvalidArgument'], { change: added(['key', KEY]) }),
    form('a key in other letters', ['InvalidArgument'], { change: added(['KEY', KEY]) }),
    ...[
      ['acl', 'public-read'],
      ['success_action_redirect', 'https://elsewhere.example/'],
      ['x-amz-meta-added', 'x'],
      ['tagging', '<Tagging><TagSet/></Tagging>'],
      ['x-amz-object-lock-legal-hold', 'ON'],
      ['content-type', 'text/html'],
    ].map(([name = '', value = '']) => form(`${name} added`, DENIED, { change: added([name, value]) })),
    ...['x-amz-acl', 'x-amz-meta-a', 'x-amz-object-lock-legal-hold', 'x-amz-tagging'].map((name) =>
      form(`a header ${name}`, ['AccessDenied', 'NotImplemented'], { headers: [[name, 'x']] }),
    ),
    form('another bucket', DENIED, { target: `/${OTHER_BUCKET}` }),
    form('a bucket that is not there', ['AccessDenied'], { target: '/attacx' }),
    form('a field of another bucket', ['InvalidRequest'], { change: added(['bucket', OTHER_BUCKET]) }),
    form('expired', DENIED, { expires: Date.now() - 1000 }),
    form('of tomorrow', DENIED, { now: Date.now() + 86_400_000 }),
    form('version 2', ['InvalidRequest'], {
      change: () => [
        ['key', KEY],
        ['AWSAccessKeyId', 'x'],
        ['policy', 'x'],
        ['signature', 'x'],
      ],
    }),
    form('signed in its query', ['AuthorizationQueryParametersError'], { target: `/${BUCKET}?X-Amz-Signature=x` }),
    form('with a header of authorization', ['InvalidArgument', 'AuthorizationHeaderMalformed'], {
      headers: [['authorization', 'Basic eDp5']],
    }),
    form('a key out of its beginning', DENIED, {
      fields: [],
      conditions: [['starts-with', '$key', 'mine/']],
      change: added(['key', 'yours/${filename}']),
    }),
    form('tags without their permission', DENIED, {
      sender: 'writer',
      fields: [
        ['key', FORM_KEY],
        ['tagging', '<Tagging><TagSet/></Tagging>'],
      ],
    }),
    form('a lock without its permission', DENIED, {
      sender: 'writer',
      fields: [
        ['key', FORM_KEY],
        ['x-amz-object-lock-legal-hold', 'ON'],
      ],
    }),
  ]
}

interface Link {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  /** Parameters behind the signature. */
  readonly more?: string
  readonly life?: number
  readonly signer?: Signer
}

/** S3 developer guide, "Signing and authenticating REST requests". */
function linkOf({ signers }: Arena, link: Link): string {
  const {
    method = 'GET',
    path = `/${BUCKET}/${KEY}`,
    query = '',
    more = '',
    life = 60,
    signer = signers.everything,
  } = link
  const expires = Math.floor(Date.now() / 1000) + life
  const resource = `${path}${query === '' ? '' : `?${query}`}`
  const signature = createHmac('sha1', signer.secretKey)
    .update(`${method}\n\n\n${expires}\n${resource}`)
    .digest('base64')
  const own = `AWSAccessKeyId=${signer.accessKey}&Expires=${expires}&Signature=${encodeURIComponent(signature)}`
  return `${path}?${query === '' ? '' : `${query}&`}${own}${more}`
}

function replaced(from: string, to: string): (text: string) => string {
  return (text) => text.replace(from, to)
}

function linksOf(arena: Arena): Case[] {
  const { signers } = arena
  const link = (
    name: string,
    codes: readonly string[],
    made: Link = {},
    method = 'GET',
    alter = (text: string) => text,
  ): Case => ({
    name: `link of version 2: ${name}`,
    method,
    target: alter(linkOf(arena, made)),
    headers: [],
    body: '',
    codes,
  })
  return [
    link('signed well', []),
    link('nothing', DENIED, { signer: signers.nothing }),
    link('denied', DENIED, { signer: signers.denied }),
    link('elsewhere', DENIED, { signer: signers.elsewhere }),
    link('disabled', ['InvalidAccessKeyId'], { signer: signers.accountDisabled }),
    link('another secret', FORGED, { signer: { ...signers.everything, secretKey: 'wrong' } }),
    link('another key', FORGED, {}, 'GET', replaced(`/${KEY}?`, '/source?')),
    link('another bucket', FORGED, {}, 'GET', replaced(`/${BUCKET}/`, `/${OTHER_BUCKET}/`)),
    ...['&versionId=null', '&response-content-type=text/html', '&acl', '&tagging', '&uploadId=x'].map((more) =>
      link(`${more} added`, FORGED, { more }),
    ),
    ...['&prefix=a', '&list-type=2', '&x-amz-acl=private', '&attributes', '&events=s3:*'].map((more) =>
      link(`${more} added`, DENIED, { more }),
    ),
    ...['PUT', 'DELETE', 'POST'].map((method) => link(method, DENIED, { method }, method)),
    link('HEAD as GET', FORGED, { method: 'HEAD' }),
    link('expired', DENIED, { life: -1 }),
    link('of a long life', DENIED, { life: 8 * 86_400 }),
    link('a longer life', FORGED, {}, 'GET', (text) =>
      text.replace(/Expires=(\d+)/, (_, at) => `Expires=${Number(at) + 1}`),
    ),
    link('version 4 besides', ['InvalidArgument', 'AuthorizationQueryParametersError', 'AccessDenied'], {
      more: '&X-Amz-Signature=x',
    }),
  ]
}

export async function attackForms(assault: Assault): Promise<void> {
  const { arena, ledger } = assault
  const { host } = arena.server.wire
  await assault.onS3('forms and links of version 2', [...formsOf(arena), ...linksOf(arena)], async (lane, one) => {
    const { name, method, target, headers, body, codes } = one
    const bytes = requestBytes(method, target, [['host', host], ...headers], body)
    const mayChange = codes.length === 0 && method === 'POST'
    const answer = await assault.ask(lane, { name, method, bytes, mayChange })
    if (answer === undefined) return
    const { status, code = '' } = answer
    if (codes.length === 0) {
      if (status >= 300) ledger.fault('wrong', name, `${status} ${code} for what is signed well`, bytes)
    } else if (status < 400) ledger.fault('let in', name, `status ${status}`, bytes)
    else if (!codes.includes(code))
      ledger.fault('wrong', name, `${status} ${code} instead of ${codes.join(' or ')}`, bytes)
  })
}
