import { XMLParser, XMLValidator } from 'fast-xml-parser'
import * as fc from 'fast-check'
import { test } from 'tap'
import { parseCreateBucketConfiguration } from '../../../planes/s3/create-bucket-configuration.ts'
import { errorDocument, S3_ERRORS, S3Error, type S3ErrorCode } from '../../../planes/s3/errors.ts'
import * as results from '../../../planes/s3/xml-documents.ts'
import { childText, readXml } from '../../../planes/s3/xml-reader.ts'
import { escapeXml } from '../../../planes/s3/xml-writer.ts'
import { refusalCode } from './wire-request.ts'

const NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
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

test('error documents', async (t) => {
  const error = new S3Error('NoSuchKey', { details: [['Key', 'a<b>&"\u0000\r\n\uffff']] })
  t.equal(
    errorDocument(error, { requestId: '4442587FB7D0A2F9', resource: '/b/a<b>' }),
    `${DECLARATION}<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message>` +
      '<Key>a&lt;b&gt;&amp;&quot;\ufffd&#13;&#10;\ufffd</Key><Resource>/b/a&lt;b&gt;</Resource>' +
      '<RequestId>4442587FB7D0A2F9</RequestId><HostId>object-store</HostId></Error>',
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
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

test('listings', async (t) => {
  const contents = [{ key: 'a b+é/\u0001', lastModifiedMicroseconds: MODIFIED, etag: 'e', size: 5 }]
  const base = { bucket: 'b', prefix: '', maxKeys: 1000, contents, commonPrefixes: ['p<q>/'] }
  t.equal(
    results.listObjectsV2Result(base),
    `${DECLARATION}<ListBucketResult${NAMESPACE}><Name>b</Name><Prefix></Prefix><KeyCount>2</KeyCount>` +
      '<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><Contents><Key>a b+é/&#1;</Key>' +
      '<LastModified>2026-01-31T12:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>5</Size>' +
      '<StorageClass>STANDARD</StorageClass></Contents>' +
      '<CommonPrefixes><Prefix>p&lt;q&gt;/</Prefix></CommonPrefixes></ListBucketResult>',
  )
  const full = results.listObjectsV2Result({
    ...base,
    prefix: 'a b',
    delimiter: '+/',
    startAfter: 's&',
    continuationToken: '',
    encodingType: 'url',
    nextContinuationToken: 'next',
    owner: { id: 'o', displayName: 'd&' },
  })
  t.match(full, '<Prefix>a%20b</Prefix><StartAfter>s%26</StartAfter><ContinuationToken></ContinuationToken>')
  t.match(full, '<Delimiter>%2B/</Delimiter><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>')
  t.match(full, '<NextContinuationToken>next</NextContinuationToken><Contents><Key>a%20b%2B%C3%A9/%01</Key>')
  t.match(full, '<Size>5</Size><Owner><ID>o</ID><DisplayName>d&amp;</DisplayName></Owner><StorageClass>')
  t.match(full, '<CommonPrefixes><Prefix>p%3Cq%3E/</Prefix></CommonPrefixes>')
  const owner = { id: 'o', displayName: 'd' }
  t.equal(
    results.listBucketsResult({ owner, buckets: [{ name: 'b', createdMicroseconds: MODIFIED }] }),
    `${DECLARATION}<ListAllMyBucketsResult${NAMESPACE}><Owner><ID>o</ID><DisplayName>d</DisplayName></Owner><Buckets>` +
      '<Bucket><Name>b</Name><CreationDate>2026-01-31T12:00:00.000Z</CreationDate></Bucket></Buckets>' +
      '</ListAllMyBucketsResult>',
  )
  const page = results.listBucketsResult({ owner, buckets: [], continuationToken: 't', prefix: 'p' })
  t.match(page, '<Buckets></Buckets><ContinuationToken>t</ContinuationToken><Prefix>p</Prefix>')
})

test('a listing carries every key that XML can carry', async (t) => {
  const parser = new XMLParser({ ignoreDeclaration: true, parseTagValue: false, trimValues: false, htmlEntities: true })
  const carried = fc.string({ unit: 'binary' }).filter((key) => !FORBIDDEN.test(key))
  fc.assert(
    fc.property(carried, fc.constantFrom('url' as const, undefined), (key, encodingType) => {
      const contents = [{ key, lastModifiedMicroseconds: MODIFIED, etag: 'e', size: 0 }]
      const document = results.listObjectsV2Result({
        bucket: 'b',
        prefix: '',
        maxKeys: 1,
        contents,
        commonPrefixes: [],
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

test('small documents', async (t) => {
  t.equal(
    results.copyObjectResult(MODIFIED, 'e'),
    `${DECLARATION}<CopyObjectResult${NAMESPACE}><LastModified>2026-01-31T12:00:00.000Z</LastModified>` +
      '<ETag>&quot;e&quot;</ETag></CopyObjectResult>',
  )
  t.equal(
    results.locationConstraint('us-east-1'),
    `${DECLARATION}<LocationConstraint${NAMESPACE}></LocationConstraint>`,
  )
  t.match(results.locationConstraint('eu-west-1'), '>eu-west-1</LocationConstraint>')
})

const REGION = '<LocationConstraint>eu-west-1</LocationConstraint>'

/** The region in a body of CreateBucket. */
function readRegion(body: string | Buffer): string | undefined {
  return parseCreateBucketConfiguration(Buffer.from(body), 65_536).locationConstraint
}

function configuration(inner: string): string {
  return `<CreateBucketConfiguration>${inner}</CreateBucketConfiguration>`
}

test('documents of clients', async (t) => {
  const prefixed = '<s:LocationConstraint>a&#45;1</s:LocationConstraint>'
  const documents: [body: string, region: string | undefined][] = [
    ['', undefined],
    [configuration(REGION), 'eu-west-1'],
    [`${DECLARATION}<CreateBucketConfiguration${NAMESPACE}>\n  ${REGION}\n</CreateBucketConfiguration>\n`, 'eu-west-1'],
    [`<s:CreateBucketConfiguration xmlns:s="x">${prefixed}</s:CreateBucketConfiguration>`, 'a-1'],
    ['<CreateBucketConfiguration/>', undefined],
    ['\ufeff<CreateBucketConfiguration/>', undefined],
    [configuration('<LocationConstraint/>'), undefined],
  ]
  for (const [body, region] of documents) t.equal(readRegion(body), region, body)
  const root = readXml(Buffer.from('<a><b> &lt;x&gt;&#13; </b></a>'), { root: 'a', bytesMaximum: 100 })
  t.equal(childText(root, 'b'), '<x>')
  t.equal(childText(root, 'valueOf'), undefined)
})

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
    `x${empty}`,
    `<?xml version="1.0"?>x${empty}`,
    `<?php x?>${empty}`,
    configuration(`<?php x?>${REGION}`),
    configuration('<LocationConstraint>&copy;</LocationConstraint>'),
    configuration('<LocationConstraint>a & b</LocationConstraint>'),
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
  t.equal(
    refusalCode(() => readRegion(configuration(' '.repeat(70_000)))),
    'MaxMessageLengthExceeded',
  )
})
