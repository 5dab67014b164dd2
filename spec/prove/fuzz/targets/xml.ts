/**
 * The XML that clients send, every document of it, held against a reader that goes character by character and against the
 * scanner that was in production.
 */
import { parseCompleteMultipartUpload } from '../../../../planes/s3/documents/completion-list.ts'
import { corsConfiguration, parseCorsConfiguration } from '../../../../planes/s3/cors/cors-configuration.ts'
import { parseCreateBucketConfiguration } from '../../../../planes/s3/documents/create-bucket-configuration.ts'
import { deleteResult, parseDeletionList } from '../../../../planes/s3/documents/delete-documents.ts'
import { legalHoldDocument, parseLegalHold } from '../../../../planes/s3/documents/legal-hold.ts'
import {
  objectLockConfiguration,
  parseObjectLockConfiguration,
} from '../../../../planes/s3/documents/object-lock-configuration.ts'
import { parseRetention, retentionDocument } from '../../../../planes/s3/documents/retention.ts'
import {
  parseVersioningConfiguration,
  versioningConfiguration,
} from '../../../../planes/s3/documents/versioning-configuration.ts'
import { readXml } from '../../../../planes/s3/text/xml-reader.ts'
import type { Random } from '../../../support/random.ts'
import { type ScannedElement, scannedXml } from '../../../support/scanned-xml.ts'
import {
  NOTHING,
  NOW,
  type Reading,
  readComplete,
  readCors,
  readCreateBucket,
  readDelete,
  readLegalHold,
  readLockConfiguration,
  readRetention,
  readVersioning,
} from '../naive-documents.ts'
import { type NaiveElement, naiveXml } from '../naive-xml.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused } from '../target.ts'

const BYTES_MAXIMUM = 64 * 1024
interface DocumentKind<Document> {
  readonly name: string
  readonly root: string
  readonly seeds: readonly string[]
  readonly words: readonly string[]
  readonly parse: (body: Buffer) => Document
  /** What the element means; `NOTHING` where it must be refused. */
  readonly read: (root: NaiveElement) => Reading
  /** Whether it is never kept in a record, so that its length is no reason to refuse it. */
  readonly isOfAnyLength?: true
  /** Documents of its own beside those by chance from the words. */
  readonly make?: (random: Random) => string
  /** What must hold of the answer to what was read. */
  readonly answer?: (value: Document) => void
  /** Writes what was read as the store does; reading that again must give the same. */
  readonly write?: (value: Document) => string | Buffer
}

/** The same form for what both readers give. */
function completed(body: Buffer): unknown {
  const { parts, md5s } = parseCompleteMultipartUpload(body)
  return { parts: [...parts], md5s: Buffer.from(md5s).toString('hex') }
}

const ETAG = '9a0364b9e99bb480dd25e1f0284c8555'
const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'

/** `Name=text` is a leaf; a list is an element with what it holds. */
type Recipe = string | readonly [name: string, ...inside: readonly (string | readonly string[])[]]

function written(recipe: Recipe): string {
  if (typeof recipe === 'string') {
    const [name = '', ...text] = recipe.split('=')
    return `<${name}>${text.join('=')}</${name}>`
  }
  const [name, ...inside] = recipe
  return `<${name}>${inside.map((each) => written(each as Recipe)).join('')}</${name}>`
}

function words(...recipes: readonly Recipe[]): string[] {
  return recipes.map(written)
}

/** Texts of members with white space and references at their ends, which are a part of a key and of nothing else. */
const EDGES = ['', '', ' ', '\n', '&#32;', '&#13;', '&#x9;', '&amp;', '&lt;', '&#x20ac;', '\u00a0', '&#xa0;']

/** A list of deletions that is mostly right; one in 40 has about as many keys as there may be. */
function deletionsByChance(random: Random): string {
  const text = (): string => `${random.of(EDGES)}${random.of(['a', 'a/b', '', 'null', '*', ETAG])}${random.of(EDGES)}`
  const object = (): string => {
    const members = ['VersionId', 'ETag', 'Size', 'LastModifiedTime'].filter(() => random.below(5) === 0)
    members.splice(random.below(members.length + 1), 0, ...(random.below(30) === 0 ? [] : ['Key']))
    const between = random.below(20) === 0 ? random.of(EDGES) : ''
    return `<Object>${members.map((name) => `${between}<${name}>${text()}</${name}>`).join('')}</Object>`
  }
  const count = random.below(40) === 0 ? 998 + random.below(5) : random.below(5)
  // All alike where there are many, so that they stay within the length of an input.
  const objects = count > 5 ? `<Object><Key>${random.of(EDGES)}a</Key></Object>`.repeat(count) : ''
  const several = count > 5 ? [objects] : Array.from({ length: count }, object)
  const quiet = ['', '', '<Quiet>true</Quiet>', '<Quiet> FALSE </Quiet>', '<Quiet>&#49;</Quiet>', '<Quiet>no</Quiet>']
  several.splice(random.below(several.length + 1), 0, random.of(quiet))
  return several.join('')
}

type DeletionList = ReturnType<typeof parseDeletionList>

/** The answer names every key as it was sent: a client that reads the document has it back. */
function answered({ objects }: DeletionList): void {
  const results = objects.map(({ key, versionId }) => ({ key, versionId, markerId: undefined }))
  const root = naiveXml(Buffer.from(deleteResult(results, false)))
  const told = root?.children.map(({ children }) => children.map(({ name, text }) => [name, text]))
  const expected = results.map(({ key, versionId }) => [
    ['Key', key],
    ...(versionId === undefined ? [] : [['VersionId', versionId]]),
  ])
  mustBeSame(told, expected, 'the keys in the answer')
  mustBeSame(naiveXml(Buffer.from(deleteResult(results, true)))?.children, [], 'what is quiet')
}

/** A text that may be longer than one may be, as it is written. */
function hasLongText(input: Buffer): boolean {
  return />[^<]{101}/.test(input.toString())
}

const MARKUP = '<|>|</|/>|<!|<!--|-->|<![CDATA[|]]>|<?xml version="1.0"?>|<?|?>|<a/>|<!DOCTYPE a>'.split('|')
const REFERENCES = ['&amp;', '&lt;', '&#65;', '&#x41;', '&#13;', '&#0;', '&#xd800;', '&#x110000;', '&e;', '&', '&quot;']
const ATTRIBUTES = [` ${NAMESPACE}`, ' a="b"', " a='b'", ' a', '="', '\t', ' xmlns:a="b"', 'a:', 'xmlns:', ':']

/** An element by chance, from the names that the document knows. */
function elementByChance(random: Random, known: readonly string[], depth: number): string {
  const name = random.below(3) === 0 ? random.of(['a', 'a:b', 'R']) : (/^<([^>]*)>/.exec(random.of(known))?.[1] ?? 'a')
  if (depth > 3 || random.below(2) === 0) return random.of(known)
  const inside = Array.from({ length: random.below(4) }, () => elementByChance(random, known, depth + 1))
  return `<${name}${random.below(6) === 0 ? random.of(ATTRIBUTES) : ''}>${inside.join('')}</${name}>`
}

function documentTarget<Document>(kind: DocumentKind<Document>): FuzzTarget {
  const { name, root, seeds, words: known, parse, read, write } = kind
  const wrapped = (inner: string): string => `<${root}>${inner}</${root}>`
  return {
    name,
    seeds: [...seeds.map(wrapped), `\ufeff<?xml version="1.0"?>\n<${root} ${NAMESPACE}>${seeds[0]}</${root} >\n`],
    words: [...known, ...MARKUP, ...REFERENCES, ...ATTRIBUTES, root],
    bytesMaximum: BYTES_MAXIMUM,
    make: (random) =>
      kind.make !== undefined && random.below(2) === 0
        ? wrapped(kind.make(random))
        : wrapped(Array.from({ length: 1 + random.below(4) }, () => elementByChance(random, known, 0)).join('')),
    judge: (input) => {
      const answer = s3Answer(() => parse(input))
      const element = naiveXml(input)
      const expected = element?.name === root ? read(element) : NOTHING
      if (!('value' in answer)) {
        // What one journal record cannot hold is refused, however right it is.
        const isExcused = (kind.isOfAnyLength !== true && input.length > 16_000) || hasLongText(input)
        mustHold(expected === NOTHING || isExcused, `${answer.code} for what is right`)
        return refused(answer.code)
      }
      mustHold(
        expected !== NOTHING || (input.length === 0 && name === 'xml-create-bucket'),
        'what must be refused was accepted',
      )
      if (expected !== NOTHING) mustBeSame(answer.value, expected, name)
      kind.answer?.(answer.value)
      if (write !== undefined)
        mustBeSame(parse(Buffer.from(write(answer.value))), answer.value, 'written and read again')
      return accepted()
    },
  }
}

/** The members of an element in the form that both readers can have. */
function treeOf({ text, children }: ScannedElement): unknown {
  const members = [...children].map(([name, elements]) => [name, elements.map(treeOf)] as const)
  return [children.size === 0 ? text : text.trim() === '', members.toSorted(byName)]
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}

function naiveTree({ text, children }: NaiveElement): unknown {
  const members = new Map<string, unknown[]>()
  for (const child of children) members.set(child.name, [...(members.get(child.name) ?? []), naiveTree(child)])
  return [children.length === 0 ? text : text.trim() === '', [...members].toSorted(byName)]
}

const KNOWN = words('a=b', ['b', 'c= d '], '__proto__=x', 'constructor=y', 'a=')

const treeTarget: FuzzTarget = {
  name: 'xml',
  seeds: ['<R/>', '<R>text</R>', '<R><a> b </a><a>&#x20ac;&amp;</a><c d="e"/></R>', '<x:R xmlns:x="y"><x:a/></x:R>'],
  words: [...KNOWN, ...MARKUP, ...REFERENCES, ...ATTRIBUTES],
  bytesMaximum: BYTES_MAXIMUM,
  make: (random) => `<R>${elementByChance(random, KNOWN, 0)}${elementByChance(random, KNOWN, 0)}</R>`,
  judge: (input) => {
    const answer = s3Answer(() => readXml(input, 'R'))
    const expected = naiveXml(input)
    const scanned = s3Answer(() => scannedXml(input, 'R'))
    mustHold('value' in scanned === (expected?.name === 'R'), 'the scanner and the naive reader differ')
    if (!('value' in answer)) {
      mustHold(expected?.name !== 'R' || hasLongText(input), `${answer.code} for what is well-formed`)
      return refused(answer.code)
    }
    mustHold(expected?.name === 'R', 'what is not well-formed was accepted')
    if (expected !== undefined) mustBeSame(treeOf(answer.value), naiveTree(expected), 'the elements')
    if ('value' in scanned)
      mustBeSame(treeOf(answer.value), treeOf(scanned.value), 'the elements that the scanner sees')
    return accepted()
  },
}

const DOCUMENT_TARGETS: readonly FuzzTarget[] = [
  documentTarget({
    name: 'xml-versioning',
    root: 'VersioningConfiguration',
    seeds: words('Status=Enabled', 'Status=Suspended'),
    words: words('Status=Enabled', 'MfaDelete=Disabled', 'MfaDelete=Enabled'),
    parse: (body) => parseVersioningConfiguration(body),
    read: readVersioning,
    write: versioningConfiguration,
  }),
  documentTarget({
    name: 'xml-legal-hold',
    root: 'LegalHold',
    seeds: words('Status=ON', 'Status=OFF'),
    words: words('Status=ON', 'Status=off'),
    parse: (body) => parseLegalHold(body),
    read: readLegalHold,
    write: legalHoldDocument,
  }),
  documentTarget({
    name: 'xml-retention',
    root: 'Retention',
    seeds: ['', words('Mode=GOVERNANCE', 'RetainUntilDate=2030-01-01T00:00:00Z').join('')],
    words: words(
      'Mode=COMPLIANCE',
      'RetainUntilDate=2026-08-01T00:00:00.0001Z',
      'RetainUntilDate=1999-01-01T00:00:00Z',
    ),
    parse: (body) => parseRetention(body, NOW) ?? 'none',
    read: (root) => readRetention(root) ?? 'none',
    write: (value) => (value === 'none' ? '<Retention/>' : retentionDocument(value)),
  }),
  documentTarget({
    name: 'xml-object-lock',
    root: 'ObjectLockConfiguration',
    seeds: [
      written('ObjectLockEnabled=Enabled'),
      words('ObjectLockEnabled=Enabled', ['Rule', ['DefaultRetention', 'Mode=COMPLIANCE', 'Days=30']]).join(''),
      words('ObjectLockEnabled=Enabled', ['Rule', ['DefaultRetention', 'Mode=GOVERNANCE', 'Years=100']]).join(''),
    ],
    words: words(['Rule', ['DefaultRetention', 'Mode=GOVERNANCE', 'Days=1']], 'Days=36500', 'Years=1', 'Rule='),
    parse: (body) => parseObjectLockConfiguration(body) ?? 'none',
    read: (root) => readLockConfiguration(root) ?? 'none',
    write: (value) => objectLockConfiguration(value === 'none' ? undefined : value),
  }),
  documentTarget({
    name: 'xml-create-bucket',
    root: 'CreateBucketConfiguration',
    seeds: words('LocationConstraint=eu-west-1', 'LocationConstraint='),
    words: words('LocationConstraint=a', 'Location=', 'Bucket=', 'Tags='),
    parse: (body) => ({ locationConstraint: parseCreateBucketConfiguration(body) }),
    read: readCreateBucket,
  }),
  documentTarget({
    name: 'xml-cors',
    root: 'CORSConfiguration',
    seeds: [
      written(['CORSRule', 'AllowedOrigin=*', 'AllowedMethod=GET']),
      written([
        'CORSRule',
        ...'ID=a AllowedOrigin=http://*.a AllowedMethod=PUT AllowedHeader=x-* MaxAgeSeconds=5'.split(' '),
      ]),
      written(['CORSRule', 'AllowedOrigin=null', 'AllowedMethod=HEAD', 'ExposeHeader=ETag', 'ExposeHeader=x']),
    ],
    words: words(
      'AllowedOrigin=https://a.b',
      ...'AllowedMethod=DELETE AllowedHeader=* ExposeHeader=y ID= MaxAgeSeconds=2147483647'.split(' '),
    ),
    parse: (body) => parseCorsConfiguration(body),
    read: readCors,
    write: corsConfiguration,
  }),
  documentTarget({
    name: 'xml-complete-upload',
    root: 'CompleteMultipartUpload',
    seeds: [
      words(['Part', 'PartNumber=1', `ETag=&quot;${ETAG}&quot;`], ['Part', `ETag=${ETAG}`, 'PartNumber=2']).join(''),
      written(['Part', 'PartNumber=10000', `ETag="${ETAG}"`, 'ChecksumCRC32=AAAAAA==', ['More', 'Inside=']]),
    ],
    words: words('PartNumber=3', `ETag=${ETAG.toUpperCase()}`, ['Part', 'PartNumber=7', `ETag=${ETAG}`], 'Skipped='),
    parse: completed,
    read: readComplete,
  }),
  documentTarget({
    name: 'xml-delete-objects',
    root: 'Delete',
    seeds: [
      words(['Object', 'Key=a'], 'Quiet=true').join(''),
      written(['Object', 'VersionId= v ', 'Key= a&#13;&amp; b ', `ETag=&quot;${ETAG}&quot;`]),
      words('Quiet=False', ['Object', 'Key=&lt;', 'Size=1', 'LastModifiedTime=x'], ['Object', 'Key=\n']).join(''),
    ],
    words: words(
      ['Object', 'Key=b'],
      ...'Key=c Key= VersionId= Size= LastModifiedTime=y Quiet=1 Quiet=yes Object= Skipped='.split(' '),
    ),
    parse: (body) => JSON.parse(JSON.stringify(parseDeletionList(body))) as DeletionList,
    read: readDelete,
    isOfAnyLength: true,
    make: deletionsByChance,
    answer: answered,
  }),
]

export const XML_TARGETS: readonly FuzzTarget[] = [treeTarget, ...DOCUMENT_TARGETS]
