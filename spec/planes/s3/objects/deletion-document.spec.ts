/** The document that DeleteObjects reads: what it takes, what it refuses, and its bounds. */
import { test } from 'tap'
import { parseDeletionList } from '../../../../planes/s3/documents/delete-documents.ts'
import { refusal, refusalCode } from '../wire-request.ts'

function read(document: string | Buffer) {
  const { objects, quiet } = parseDeletionList(Buffer.from(document))
  return { quiet, objects: objects.map((object) => JSON.parse(JSON.stringify(object)) as unknown) }
}

function list(...objects: readonly string[]): string {
  return `<Delete>${objects.join('')}</Delete>`
}

const K = '<Object><Key>k</Key></Object>'

test('what clients send', async (t) => {
  t.same(read(list(K)), { quiet: false, objects: [{ key: 'k' }] })
  const document =
    '<?xml version="1.0" encoding="UTF-8"?>\n<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\n' +
    '  <Object>\n    <Key>a/b</Key>\n    <VersionId>3HL4kqtJ</VersionId>\n  </Object>\n  <Quiet>true</Quiet>\n' +
    '  <Object><ETag>&quot;abc&quot;</ETag><Key>c</Key></Object>\n</Delete>\n'
  t.same(read(document), {
    quiet: true,
    objects: [
      { key: 'a/b', versionId: '3HL4kqtJ' },
      { key: 'c', etag: '"abc"' },
    ],
  })
  t.same(read(list('<Object><Key>k</Key><Size>1</Size></Object>')).objects, [{ key: 'k', foreign: 'Size' }])
  for (const [text, quiet] of [
    ['true', true],
    ['True', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ] as const) {
    t.equal(read(`<Delete><Quiet> ${text} </Quiet>${K}</Delete>`).quiet, quiet, text)
  }
})

test('a key is what is written, to the character', async (t) => {
  const keys = [
    [' k ', ' k '],
    ['\n\tk', '\n\tk'],
    ['&#13;k&#xD;&#10;', '\rk\r\n'],
    ['a\r\nb\rc', 'a\nb\nc'],
    ['&amp;lt;', '&lt;'],
    ['&amp;amp;#65;', '&amp;#65;'],
    ['&quot;&apos;&gt;', '"\'>'],
    ['\u00a0\ufeff', '\u00a0\ufeff'],
    ['&#x1F600;', '😀'],
  ] as const
  for (const [written, key] of keys) {
    t.same(read(list(`<Object><Key>${written}</Key></Object>`)).objects, [{ key }], JSON.stringify(written))
  }
})

test('what is refused, since something else could be deleted than was meant', async (t) => {
  const object = (inner: string) => list(`<Object>${inner}</Object>`)
  const documents = [
    '',
    ' ',
    '<Delete/>',
    '<Delete></Delete>',
    '<Delete><Quiet>true</Quiet></Delete>',
    `<delete>${K}</delete>`,
    K,
    list('<Object/>'),
    object(''),
    object('<Key/>'),
    object('<Key></Key>'),
    object('<VersionId>v</VersionId>'),
    object('<Key>a</Key><Key>b</Key>'),
    object('<Key>a</Key><VersionId>1</VersionId><VersionId>2</VersionId>'),
    object('<Key>a</Key><ETag>1</ETag><ETag>2</ETag>'),
    object('<Key>a<b/></Key>'),
    object('<Key>a</Key><IfMatch>1</IfMatch>'),
    object('<key>a</key>'),
    object('<Key>a</Key>text'),
    `<Delete><Quiet>true</Quiet><Quiet>true</Quiet>${K}</Delete>`,
    `<Delete><Quiet>yes</Quiet>${K}</Delete>`,
    `<Delete><Quiet/>${K}</Delete>`,
    `<Delete>text${K}</Delete>`,
    `<Delete>${K}<Other/></Delete>`,
    `<Delete>${K}</Delete>${list(K)}`,
    `<!DOCTYPE d [<!ENTITY e "k">]>${list('<Object><Key>&e;</Key></Object>')}`,
    list('<Object><Key><![CDATA[k]]></Key></Object>'),
    list('<Object><Key>k<!-- --></Key></Object>'),
    list('<Object><Key>&#0;</Key></Object>'),
    list('<Object><Key>&#1;</Key></Object>'),
    list('<Object><Key>&#xD800;</Key></Object>'),
    list('<Object><Key>k</Key>'),
    `<Delete>${K}`,
  ]
  for (const document of documents)
    t.equal(
      refusalCode(() => read(document)),
      'MalformedXML',
      document,
    )
  const latin = Buffer.from(list('<Object><Key>\u00e9</Key></Object>'), 'latin1')
  t.equal(
    refusalCode(() => read(latin)),
    'MalformedXML',
    'bytes that are not UTF-8',
  )
})

test('1,000 keys and not one more', async (t) => {
  const many = Array.from({ length: 1000 }, (_, index) => `<Object><Key>${index}</Key></Object>`)
  t.equal(read(list(...many)).objects.length, 1000)
  t.equal(
    refusalCode(() => read(list(...many, K))),
    'MalformedXML',
  )
})

test('a key as long as one can be is read however it is written, and a longer document is refused unread', async (t) => {
  const key = '"'.repeat(1024)
  t.same(read(list(`<Object><Key>${'&quot;'.repeat(1024)}</Key></Object>`)).objects, [{ key }])
  for (const [inner, why] of [
    [`<Key>${'k'.repeat(8193)}</Key>`, /Key has more than 8192 characters/],
    [`<Key>${'&#65;'.repeat(13_000)}</Key>`, /Key has more than 8192 characters/],
    [`<Key>${'&#65;'.repeat(400_000)}</Key>`, /more than 65536 characters/],
    [`<Key>k</Key><VersionId>${'v'.repeat(2049)}</VersionId>`, /VersionId has more than 2048 characters/],
    [`<Key>k</Key><ETag>${"'".repeat(101)}</ETag>`, /ETag has more than 100 characters/],
  ] as const) {
    t.match(
      refusal(() => read(list(`<Object>${inner}</Object>`))),
      { code: 'MalformedXML', message: why },
    )
  }
})
