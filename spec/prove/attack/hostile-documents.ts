/** XML and JSON that is meant to harm whoever parses it, to everything that takes a document (S18, S19). */
import { routeList } from '../../../planes/management/routing/route-list.ts'
import { digestOf } from '../../support/wire-deletions.ts'
import { ANY_STATUS, type Assault, REFUSALS } from './assault.ts'
import { DOCUMENT_BODIES } from './management-routes.ts'
import { type S3Request, s3Requests } from './s3-requests.ts'
import { apiBytes } from './signed-requests.ts'

const MEBIBYTE = 1024 ** 2
const DEPTH = 100_000

/** Made from a valid document; `refused`: it must be, whatever the operation. */
interface Spoiled {
  readonly name: string
  readonly body: string
  readonly refused: boolean
}

/** The document with something inside its first element. */
function inside(document: string, added: string): string {
  return document.replace('>', `>${added}`)
}

function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`)
  return `<!DOCTYPE b [<!ENTITY l0 "lol">${levels.join('')}]>`
}

function must(name: string, body: string): Spoiled {
  return { name, body, refused: true }
}

function may(name: string, body: string): Spoiled {
  return { name, body, refused: false }
}

function spoiledXml(document: string): Spoiled[] {
  const root = /^<(\w+)/.exec(document)?.[1] ?? 'a'
  const entity = (declaration: string): string => `<!DOCTYPE a [${declaration}]>${inside(document, '<x>&e;</x>')}`
  return [
    must('document type', `<!DOCTYPE ${root}>${document}`),
    must('document type in small letters', `<!doctype ${root}>${document}`),
    must('document type behind blanks', `  \n<!DOCTYPE ${root}>${document}`),
    must('document type behind a declaration', `<?xml version="1.0"?><!DOCTYPE ${root}>${document}`),
    must('document type behind the document', `${document}<!DOCTYPE ${root}>`),
    must('entity', entity('<!ENTITY e "x">')),
    must('entity of a file', entity('<!ENTITY e SYSTEM "file:///etc/passwd">')),
    must('entity of an address', entity('<!ENTITY e SYSTEM "http://127.0.0.1:1/">')),
    must('entity of a parameter', entity('<!ENTITY % e SYSTEM "file:///etc/passwd"> %e;')),
    must('entities that multiply', `${bomb()}${inside(document, '<x>&l9;</x>')}`),
    must('one entity, many times', entity(`<!ENTITY e "${'x'.repeat(10_000)}">`).replace('&e;', '&e;'.repeat(10_000))),
    must('declaration of an element', `<!ELEMENT ${root} ANY>${document}`),
    must('comment', `<!-- x -->${document}`),
    must('comment inside', inside(document, '<!-- x -->')),
    must('character data section', inside(document, '<![CDATA[x]]>')),
    must('entity that nobody declared', inside(document, '<x>&e;</x>')),
    must('depth', inside(document, '<x>'.repeat(DEPTH) + '</x>'.repeat(DEPTH))),
    must('depth of eleven', inside(document, '<x>'.repeat(11) + '</x>'.repeat(11))),
    must('depth without an end', '<x>'.repeat(DEPTH)),
    must('no end', document.slice(0, -3)),
    must('two documents', document + document),
    must('bytes behind', `${document}x`),
    must('another root', '<Other/>'),
    must('root of a prototype', '<__proto__><constructor/></__proto__>'),
    must('NUL', inside(document, '\0')),
    must('NUL as a reference', inside(document, '&#0;')),
    must('reference beyond Unicode', inside(document, '&#x110000;')),
    must('reference to half a character', inside(document, '&#xD800;')),
    must('UTF-16', Buffer.from(`\ufeff${document}`, 'utf16le').toString('latin1')),
    must('no XML', 'this is no document'),
    must('JSON', '{"a":1}'),
    must('blanks', ' '.repeat(1000)),
    must('a million references', inside(document, '&#65;'.repeat(MEBIBYTE / 5))),
    must('a million elements', inside(document, '<x/>'.repeat(MEBIBYTE / 4))),
    must('beyond every bound', inside(document, ' '.repeat(5 * MEBIBYTE))),
    may('references, many', inside(document, '&#32;'.repeat(10_000))),
    may(
      'attributes, many',
      document.replace('>', ` ${Array.from({ length: 5000 }, (_, n) => `a${n}="x"`).join(' ')}>`),
    ),
    may('attribute, long', document.replace('>', ` a="${'x'.repeat(50_000)}">`)),
    may('element of a prototype', inside(document, '<__proto__>x</__proto__>')),
    may('element of a constructor', inside(document, '<constructor><prototype>x</prototype></constructor>')),
    may('element of toString', inside(document, '<toString>x</toString>')),
    may('encoding of another', `<?xml version="1.0" encoding="UTF-7"?>${document}`),
    may('instruction', inside(document, '<?php x ?>')),
    may('style sheet', `<?xml-stylesheet href="http://127.0.0.1:1/"?>${document}`),
    may(
      'inclusion',
      inside(document, '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'),
    ),
    may('name space', document.replace('>', ' xmlns:a="urn:a" a:b="c">')),
  ]
}

/** The operations that read a document, by the table; an object is none. */
function takesDocument({ operation, body }: S3Request): boolean {
  return operation.handle !== undefined && body.startsWith('<') && operation.bodyBytesMaximum > 0
}

export async function attackDocuments(assault: Assault): Promise<void> {
  const { arena } = assault
  const requests = s3Requests(arena).filter(takesDocument)
  const creation = s3Requests(arena).filter(({ operation }) => operation.name === 'CreateBucket')
  const all = [
    ...requests,
    ...creation.map((one) => ({ ...one, body: '<CreateBucketConfiguration></CreateBucketConfiguration>' })),
  ]
  const each = all.flatMap((request) => spoiledXml(request.body).map((spoiled) => ({ request, spoiled })))
  const cases = assault.some(each, ({ request, spoiled }) => [request.operation.name, spoiled.name])
  await assault.onS3('hostile XML', cases, async (lane, { request, spoiled }) => {
    const { path, query, operation } = request
    const { body, refused } = spoiled
    const name = `${operation.name} / ${spoiled.name}`
    const headers = operation.judgesKeys ? [digestOf(body)] : []
    const signable = { name, method: operation.method, path, query, headers, body, payloadHash: 'UNSIGNED-PAYLOAD' }
    await assault.signed(lane, signable, refused ? REFUSALS : ANY_STATUS, !refused)
  })
  await attackJson(assault)
}

const DEEP = '['.repeat(DEPTH) + ']'.repeat(DEPTH)

function spoiledJson(document: string): Spoiled[] {
  const plus = (name: string, members: string): Spoiled => {
    return must(name, document === '{}' ? `{${members}}` : document.replace('{', `{${members},`))
  }
  return [
    plus('member __proto__', '"__proto__":{"admin":true}'),
    plus('member constructor', '"constructor":{"prototype":{"admin":true}}'),
    plus('member toString', '"toString":"x"'),
    plus('member of depth', `"x":${DEEP}`),
    plus('member in escapes', '"\\u005f_proto__":1'),
    must('array', '[]'),
    must('array of depth', DEEP),
    must('null', 'null'),
    must('text', '"x"'),
    must('number', '1e999'),
    must('two documents', document + document),
    must('no end', document.slice(0, -1)),
    must('comma at the end', document.replace(/\}$/, ',}')),
    must('not a number', '{"x":NaN}'),
    must('byte order mark', `\ufeff${document}`),
    must('UTF-16', Buffer.from(document, 'utf16le').toString('latin1')),
    must('no JSON', '<x/>'),
    must('beyond the bound', document.replace('{', `{${' '.repeat(MEBIBYTE)}`)),
    must('no document', ' '),
  ]
}

async function attackJson(assault: Assault): Promise<void> {
  const { arena } = assault
  const routes = routeList.filter(({ body }) => body === 'json')
  const all = routes.flatMap((route) =>
    spoiledJson(DOCUMENT_BODIES[`${route.method} ${route.path}`] ?? '{}').map((spoiled) => ({ route, spoiled })),
  )
  const cases = assault.some(all, ({ route, spoiled }) => [`${route.method} ${route.path}`, spoiled.name])
  await assault.onApi('hostile JSON', cases, async (lane, { route, spoiled }) => {
    const { method, path } = route
    const name = `${method} ${path} / ${spoiled.name}`
    const target = path.replaceAll(/\{\w+\}/g, (part) => arena.victims[part] ?? 'none')
    const bytes = apiBytes(arena, method, target, { body: spoiled.body })
    await assault.expect(lane, { name, method, bytes, mayChange: false }, REFUSALS)
  })
}
