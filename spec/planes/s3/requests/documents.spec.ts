import { microsecondsOf } from '../../../../engine/brands.ts'
import * as fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { test } from 'tap'
import { parseCreateBucketConfiguration } from '../../../../planes/s3/documents/create-bucket-configuration.ts'
import * as results from '../../../../planes/s3/documents/xml-documents.ts'
import { xmlResponse } from '../../../../planes/s3/documents/xml-response.ts'
import { errorDocument } from '../../../../planes/s3/documents/error-response.ts'
import { S3_ERRORS, S3Error, type S3ErrorCode } from '../../../../planes/s3/errors/s3-errors.ts'
import { listObjectsV2Parameters } from '../../../../planes/s3/request/list-parameters.ts'
import { parseQuery } from '../../../../planes/s3/request/query-parameters.ts'
import { escapeXml } from '../../../../planes/s3/text/xml-writer.ts'
import { refusalCode } from '../wire-request.ts'
import { anyCharacter } from '../../../support/any-character.ts'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/

/** Characters that XML 1.0 has no form for. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

const MODIFIED = Date.UTC(2026, 0, 31, 12) * 1000

test('every error has a status and a sentence', async (t) => {
  for (const [code, { status, message }] of Object.entries(S3_ERRORS)) {
    t.match(code, /^[A-Z][A-Za-z0-9]+$/)
    t.ok(status >= 400 && status < 600, code)
    t.match(message, /\S/, code)
    const error = new S3Error(code as S3ErrorCode, { message: '' })
    t.equal(error.message, message, 'an empty message is never sent')
    t.match(errorDocument(error, { requestId: 'r', resource: '/' }), `<Code>${code}</Code><Message>`)
  }
})

test('documents of every length and alphabet are sent as they are', async (t) => {
  for (const letter of ['a', 'é', '€', '𝄞']) {
    for (const length of [1, 4096, 4097, 87_381, 349_525, 349_526, 1_100_000]) {
      const document = letter.repeat(Math.ceil(length / letter.length)).slice(0, length - (length % letter.length))
      const first = xmlResponse(document).body as string | Buffer
      xmlResponse('b'.repeat(length))
      t.ok(Buffer.from(document).equals(Buffer.from(first)), `${length} units of ${letter}`)
    }
  }
})

test('error documents', async (t) => {
  const error = new S3Error('NoSuchKey', { details: [['Key', 'a<b>&"\u0000\r\n\uffff']] })
  t.equal(
    errorDocument(error, { requestId: '4442587FB7D0A2F9', resource: '/b/a<b>' }),
    `${DECLARATION}<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message>` +
      '<Key>a&lt;b&gt;&amp;&quot;\ufffd&#13;&#10;\ufffd</Key><Resource>/b/a&lt;b&gt;</Resource>' +
      '<RequestId>4442587FB7D0A2F9</RequestId><HostId>object-store</HostId></Error>',
  )
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const document = errorDocument(new S3Error('NoSuchKey', { details: [['Key', text]] }), {
        requestId: text,
        resource: text,
      })
      return XMLValidator.validate(document) === true && !CONTROL.test(document)
    }),
    { numRuns: 200 },
  )
})

test('escaping', async (t) => {
  t.equal(escapeXml('plain/key é 😀'), 'plain/key é 😀')
  t.equal(escapeXml(`<a href="b">'&'</a>`), '&lt;a href=&quot;b&quot;&gt;&apos;&amp;&apos;&lt;/a&gt;')
  t.equal(escapeXml('a\rb\tc\n\u0001\u001f\ufffe'), 'a&#13;b&#9;c&#10;&#1;&#31;&#65534;')
})

const NO_PARAMETERS = {
  ...listObjectsV2Parameters(parseQuery('')),
  nextContinuationToken: undefined,
  owner: { id: '', displayName: '' },
}

test('a listing carries every key that XML can carry', async (t) => {
  const parser = new XMLParser({ ignoreDeclaration: true, parseTagValue: false, trimValues: false, htmlEntities: true })
  const carried = fc.string({ unit: anyCharacter }).filter((key) => !FORBIDDEN.test(key))
  fc.assert(
    fc.property(carried, fc.constantFrom('url' as const, undefined), (key, encodingType) => {
      const contents = [
        { key, lastModifiedMicroseconds: microsecondsOf(MODIFIED), etag: 'e', size: 0, checksum: undefined },
      ]
      const document = results.listObjectsV2Result({
        ...NO_PARAMETERS,
        bucket: 'b',
        contents,
        commonPrefixes: [],
        showsChecksums: false,
        encodingType,
      })
      const parsed = parser.parse(document, true) as { ListBucketResult: { Contents: { Key: string } } }
      const found = parsed.ListBucketResult.Contents.Key
      return (encodingType === 'url' ? decodeURIComponent(found) : found) === key
    }),
    { numRuns: 300 },
  )
  t.pass()
})

const REGION = '<LocationConstraint>eu-west-1</LocationConstraint>'

/** The region in a body of CreateBucket. */
function readRegion(body: string | Buffer): string | undefined {
  return parseCreateBucketConfiguration(Buffer.from(body))
}

function configuration(inner: string): string {
  return `<CreateBucketConfiguration>${inner}</CreateBucketConfiguration>`
}

test('documents that are refused', async (t) => {
  const empty = '<CreateBucketConfiguration/>'
  const malformed: (string | Buffer)[] = [
    'x',
    '{}',
    '<a>',
    '<a></b>',
    `<Other>${REGION}</Other>`,
    '<CreateBucketConfiguration>',
    '<__proto__/>',
    '<constructor/>',
    `${empty}<a/>`,
    `${empty}${empty}`,
    `${empty}x`,
    `${empty}>`,
    `${empty}&#32;${empty}`,
    configuration('</LocationConstraint/>'),
    configuration('<LocationConstraint = a="1"/>'),
    configuration('<LocationConstraint\u1680>x</LocationConstraint\u1680>'),
    configuration('<LocationConstraint\ufeff>x</LocationConstraint>'),
    configuration('<LocationConstraint a="<b>">x</LocationConstraint>'),
    configuration('<LocationConstraint a="&foreign;">x</LocationConstraint>'),
    configuration('<a:b:LocationConstraint>x</a:b:LocationConstraint>'),
    configuration('<toString/>'),
    configuration('<#text>x</#text>'),
    `x${empty}`,
    `<?xml version="1.0"?>x${empty}`,
    `<?php x?>${empty}`,
    configuration(`<?php x?>${REGION}`),
    configuration('<LocationConstraint>&copy;</LocationConstraint>'),
    configuration('<LocationConstraint>a & b</LocationConstraint>'),
    configuration('<LocationConstraint>&#<Unknown/>65;</LocationConstraint>'),
    ...['&#0;', '&#1;', '&#31;', '&#xD800;', '&#xfffe;', '&#x110000;', '&#9999999;', '\u0001', '\uffff'].map((text) =>
      configuration(`<LocationConstraint>a${text}b</LocationConstraint>`),
    ),
    configuration('<LocationConstraint a=b>x</LocationConstraint>'),
    configuration('<LocationConstraint a="1" a="2">x</LocationConstraint>'),
    `<!DOCTYPE x [<!ENTITY e "v">]>${configuration(REGION)}`,
    configuration('<!-- c -->'),
    configuration('<LocationConstraint><![CDATA[x]]></LocationConstraint>'),
    configuration(REGION + REGION),
    configuration(`text${REGION}`),
    configuration('<Unknown/>'),
    configuration('<LocationConstraint><a/></LocationConstraint>'),
    configuration(`${'<a>'.repeat(50)}${'</a>'.repeat(50)}`),
    Buffer.from([0x3c, 0x61, 0xff, 0x2f, 0x3e]),
  ]
  for (const body of malformed)
    t.equal(
      refusalCode(() => readRegion(body)),
      'MalformedXML',
      String(body).slice(0, 60),
    )
  for (const text of ['a b', 'é', 'a&#10;b', 'x'.repeat(256)]) {
    const body = configuration(`<LocationConstraint>${text}</LocationConstraint>`)
    t.equal(
      refusalCode(() => readRegion(body)),
      'InvalidLocationConstraint',
      text.slice(0, 20),
    )
  }
  t.equal(
    refusalCode(() => readRegion(configuration('<Tags/>'))),
    'NotImplemented',
  )
})
