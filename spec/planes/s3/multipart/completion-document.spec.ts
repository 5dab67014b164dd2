import * as fc from 'fast-check'
import { test } from 'tap'
import { parseCompleteMultipartUpload } from '../../../../planes/s3/documents/completion-list.ts'
import { type ScannedElement, scannedXml } from '../../../support/scanned-xml.ts'
import { detail, refusal, refusalCode } from '../wire-request.ts'

const BYTES_MAXIMUM = 4 * 1024 ** 2
const ROOT = 'CompleteMultipartUpload'
const MD5 = '0cc175b9c0f1b6a831c399e269772661'
const OTHER = '92EB5FFEE6AE2FEC3AD71C777531578F'

interface Parts {
  readonly numbers: readonly number[]
  readonly etags: readonly string[]
}

/** What the store reads, as numbers and hexadecimal. */
function read(document: string | Buffer): Parts {
  const { parts, md5s } = parseCompleteMultipartUpload(Buffer.from(document))
  const etags = [...parts.keys()].map((index) =>
    Buffer.from(md5s.subarray(index * 16, index * 16 + 16)).toString('hex'),
  )
  return { numbers: [...parts], etags }
}

function textOf(element: ScannedElement, name: string): string {
  return element.children.get(name)?.[0]?.text ?? ''
}

/** What the scanner reads. */
function readSlowly(document: string): Parts {
  const found = scannedXml(Buffer.from(document), ROOT).children.get('Part') ?? []
  return {
    numbers: found.map((one) => Number(textOf(one, 'PartNumber'))),
    etags: found.map((one) => textOf(one, 'ETag').trim().replaceAll('"', '').toLowerCase()),
  }
}

function part(number: number | string, etag: string = MD5): string {
  return `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`
}

function complete(...parts: readonly string[]): string {
  return `<${ROOT}>${parts.join('')}</${ROOT}>`
}

function refusalOf(document: string | Buffer) {
  return refusalCode(() => read(document))
}

test('documents of clients', async (t) => {
  const expected = { numbers: [1, 7], etags: [MD5, OTHER.toLowerCase()] }
  const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/'
  const documents = [
    complete(part(1), part(7, OTHER)),
    complete(part('\n 01\t', `"${MD5}"`), part(7, `&quot;${OTHER}&quot;`)),
    complete(part(1, `\r\n&#34;${MD5}&#x22; `), part(7, `"${OTHER}&quot;`)),
    complete(part(1, `&#48;${MD5.slice(1)}`), part(7, OTHER)),
    complete(part('1&#13;&#10;', `&#x20;${MD5}`), part('&#9;7', OTHER)),
    `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<${ROOT} xmlns="${namespace}">\n  ${part(1)}\n${part(7, OTHER)} </${ROOT} >\n`,
    complete(part(1), part(7, OTHER))
      .replaceAll(/<(\/?)/g, '<$1s3:')
      .replace(' >', '>')
      .replace(ROOT, `${ROOT} a = 'x>y' xmlns:s3="${namespace}"`),
    complete(
      `<Part><ETag>${MD5}</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32><PartNumber>1</PartNumber></Part>`,
      `<Part ><ChecksumSHA256/><Size>5&amp;é</Size><PartNumber>7</PartNumber><a><b c="d"/><b>e</b></a><ETag>${OTHER}</ETag></Part>`,
    ),
  ]
  for (const document of documents) t.same(read(document), expected, document)
  const many = Array.from({ length: 10_000 }, (_, index) => part(index + 1))
  const all = read(complete(...many))
  t.same([all.numbers.length, all.numbers.at(-1), all.etags.at(-1)], [10_000, 10_000, MD5])
})

test('documents that are none', async (t) => {
  const document = complete(part(1))
  const inner = (text: string) => complete(`<Part>${text}</Part>`)
  const [number, etag] = ['<PartNumber>1</PartNumber>', `<ETag>${MD5}</ETag>`]
  const malformed = [
    '',
    ' ',
    'x',
    `<${ROOT}/>`,
    complete(),
    complete(' '),
    complete('<Part/>'),
    complete('<Bucket>b</Bucket>'),
    complete(part(1), 'x'),
    complete(`<part>${number}${etag}</part>`),
    document.replaceAll(ROOT, 'CreateBucketConfiguration'),
    inner(number),
    inner(etag),
    inner(number + etag + etag),
    inner(number + number + etag),
    inner(`x${number}${etag}`),
    inner(`${number}<ETag><b>${MD5}</b></ETag>`),
    inner(`<PartNumber/>${etag}`),
    inner(`${number}<ETag>&foreign;</ETag>`),
    inner(`${number}<ETag>&#x110000;</ETag>`),
    inner(`${number}<ETag>&amp</ETag>`),
    inner(`${number}${etag}${'<a>'.repeat(9)}${'</a>'.repeat(9)}`),
    inner(`${number}${etag}<a></b>`),
    inner(`${number}${etag}<1/>`),
    inner(`${number}${etag}<a b/>`),
    inner(`${number}${etag}<a b=c/>`),
    inner(`${number}${etag}<a b="<"/>`),
    inner(`${number}${etag}<a b="1"c="2"/>`),
    inner(`${number}${etag}<a b="1" c="2" b="1"/>`),
    inner(`${number}${etag}<a b\ufeff="1"/>`),
    inner(`${number}${etag}<a b=\u00a0"1"/>`),
    document.replace(ROOT, `${ROOT} xmlns="" xmlns=""`),
    inner(`${number}${etag}</ Part>`),
    ...['', ' ', 'x', '1.5', '1e3', '0x1', '+1', '--1', '1 2'].map((text) => complete(part(text))),
    `${document}x`,
    `${document}${document}`,
    document.slice(0, -1),
    document.slice(0, -ROOT.length),
    `<!DOCTYPE ${ROOT}>${document}`,
    `<!-- c -->${document}`,
    complete('<!-- c -->', part(1)),
    complete(part('<![CDATA[1]]>')),
    complete('<?php ?>', part(1)),
    complete(...Array.from({ length: 10_001 }, () => part(1))),
  ]
  for (const text of malformed) t.equal(refusalOf(text), 'MalformedXML', text.slice(0, 200))
  t.equal(refusalOf(Buffer.from([0xff, 0xfe, 0x3c, 0])), 'MalformedXML')
  t.equal(refusalOf(`<${'a'.repeat(BYTES_MAXIMUM - 2)}>`), 'MalformedXML')
})

test('what is longer than it can be is refused unread, however it is written', async (t) => {
  const room = 65_000
  const longs = ['&#65;', '&#x22;', '&quot;', '&amp;', '"', "'", 'a', '0', ' '].map((fill) =>
    fill.repeat(Math.floor(room / fill.length)),
  )
  for (const long of [...longs, 'x'.repeat(101)]) {
    for (const [name, document] of [
      ['ETag', complete(part(1, long))],
      ['PartNumber', complete(part(long))],
    ] as const) {
      const { code, message } = refusal(() => read(document))
      t.equal(code, 'MalformedXML')
      t.match(message, new RegExp(`${name} has more than 100 characters\\.$`))
    }
  }
  t.equal(refusalOf(complete(part(1, 'x'.repeat(100)))), 'InvalidPart')
  for (const long of ['x'.repeat(65_540), '&#65;'.repeat(800_000), '\r'.repeat(4_000_000)]) {
    t.match(refusal(() => read(complete(part(1, long)))).message, /more than 65536 characters/)
  }
  for (const [inside, why] of [
    ['<a/>'.repeat(100_000), /too many elements/],
    [`<a ${Array.from({ length: 5000 }, (_, index) => `a${index}=""`).join(' ')}/>`.repeat(5), /too many attributes/],
    [`<a ${Array.from({ length: 20_001 }, (_, index) => `a${index}=""`).join(' ')}/>`, /more than 65536 characters/],
    ['&#65;&foreign;', /unknown entity/],
    ['<a b="&foreign;"/>', /unknown entity/],
    ['&#xffff;', /character that XML does not know/],
  ] as const) {
    const document = complete(`<Part><PartNumber>1</PartNumber><ETag>${MD5}</ETag><More>${inside}</More></Part>`)
    t.match(refusal(() => read(document)).message, why)
  }
})

test('numbers, their order, and ETags of no part', async (t) => {
  for (const number of [0, -1, 10_001, '9'.repeat(100)]) {
    const error = refusal(() => read(complete(part(number))))
    t.equal(error.code, 'InvalidArgument')
    t.same([detail(error, 'ArgumentName'), detail(error, 'ArgumentValue')], ['PartNumber', String(number)])
  }
  t.equal(refusalOf(complete(part(1), part(1))), 'InvalidPartOrder')
  t.equal(refusalOf(complete(part(1), part(3), part(2), part(4))), 'InvalidPartOrder')
  for (const etag of [
    '',
    '"',
    '""',
    'x',
    `${MD5}-2`,
    MD5.slice(1),
    `${MD5}0`,
    `g${MD5.slice(1)}`,
    // The lower byte of its code is that of the digit 0.
    `\u0130${MD5.slice(1)}`,
    `W/"${MD5}"`,
    `"${MD5}`,
  ]) {
    const error = refusal(() => read(complete(part(1), part(3, etag), part(4, 'y'))))
    t.equal(error.code, 'InvalidPart', etag)
    t.same([detail(error, 'PartNumber'), detail(error, 'ETag')], ['3', etag])
  }
  t.equal(refusalOf(complete(part(2, 'x'), part(1))), 'InvalidPartOrder', 'the order comes before the ETags')
  t.equal(refusalOf(complete(part(2), part(1)).slice(0, -3)), 'MalformedXML', 'the document comes before the order')
})

const blank = fc.constantFrom('', '', ' ', '\n  ', '\r\n\t')
const quote = fc.constantFrom('', '"', '&quot;', '&#34;', '&#x22;')
const hexadecimal = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 32, maxLength: 32 })
const extra = fc.constantFrom('', '<ChecksumCRC32>x&amp;y==</ChecksumCRC32>', '<a b="1>"/>', "<a>t<c d=''></c></a>")

const partXml = fc.tuple(hexadecimal, quote, fc.array(blank, { minLength: 4, maxLength: 4 }), extra, fc.boolean())

const documentXml = fc
  .record({
    numbers: fc.uniqueArray(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 8 }),
    parts: fc.array(partXml, { minLength: 8, maxLength: 8 }),
    prefix: fc.constantFrom('', 's3:'),
    head: fc.constantFrom('', '<?xml version="1.0"?>', '\ufeff<?xml version="1.0" encoding="utf-8" ?>\n'),
  })
  .map(({ numbers, parts, prefix, head }) => {
    const sorted = numbers.toSorted((left, right) => left - right)
    const inner = sorted.map((number, index) => {
      const [etag, mark, blanks, rest, first] = parts[index] as (typeof parts)[number]
      const numberXml = `<PartNumber>${blanks[0]}${number}</PartNumber>${blanks[1]}`
      const etagXml = `<ETag${blanks[2]}>${mark}${etag}${mark}${blanks[3]}</ETag>`
      return `<Part>${blanks[0]}${first ? numberXml + etagXml : etagXml + numberXml}${rest}</Part>`
    })
    const root = `${ROOT} xmlns${prefix === '' ? '' : ':s3'}="urn:x"`
    const document = `<${root}>${inner.join('')}</${ROOT}>`
    return head + document.replaceAll(/<(?=[A-Z])/g, `<${prefix}`).replaceAll(/<\/(?=[A-Z])/g, `</${prefix}`)
  })

test('the store and the scanner read the same', async (t) => {
  fc.assert(
    fc.property(documentXml, (document) => {
      t.same(read(document), readSlowly(document), document)
    }),
    { numRuns: 200 },
  )
})

test('a damaged document is refused or read like any other, and nothing else happens', async (t) => {
  const damage = fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 6 }),
    put: fc.constantFrom('', '<', '>', '/', '</', '"', '&', '<a>', '</Part>', '\u0000', 'é', '<Part>'),
  })
  fc.assert(
    fc.property(documentXml, damage, (whole, { at, length, put }) => {
      const from = at % whole.length
      const document = whole.slice(0, from) + put + whole.slice(from + length)
      if (refusalOf(document) !== undefined) return
      t.same(read(document), readSlowly(document), document)
    }),
    { numRuns: 1000 },
  )
  t.pass()
})
