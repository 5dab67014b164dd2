import { XMLValidator } from 'fast-xml-parser'
import { test } from 'tap'
import {
  listMultipartUploadsParameters,
  listObjectVersionsParameters,
  listPartsParameters,
} from '../../../planes/s3/list-parameters.ts'
import * as multipart from '../../../planes/s3/multipart-documents.ts'
import { partNumberParameter } from '../../../planes/s3/part-number.ts'
import { parseQuery } from '../../../planes/s3/query-parameters.ts'
import { listVersionsResult } from '../../../planes/s3/version-documents.ts'
import { detail, refusal, refusalCode } from './wire-request.ts'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
const NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
const MODIFIED = Date.UTC(2026, 0, 31, 12) * 1000
const TIME = '2026-01-31T12:00:00.000Z'
const owner = { id: 'o', displayName: 'd&' }
const OWNER = '<Owner><ID>o</ID><DisplayName>d&amp;</DisplayName></Owner>'
const PEOPLE = `${OWNER.replaceAll('Owner', 'Initiator')}${OWNER}<StorageClass>STANDARD</StorageClass>`

const versions = (raw: string) => listObjectVersionsParameters(parseQuery(raw))
const parts = (raw: string) => listPartsParameters(parseQuery(raw))
const uploads = (raw: string) => listMultipartUploadsParameters(parseQuery(raw))
const part = (raw: string) => partNumberParameter(parseQuery(raw))

test('parameters of ListObjectVersions', async (t) => {
  const first = {
    prefix: '',
    delimiter: undefined,
    keyMarker: undefined,
    versionIdMarker: undefined,
    maxKeys: 1000,
    encodingType: undefined,
  }
  t.same(versions('versions'), first)
  t.same(versions('prefix=&delimiter=&key-marker=&version-id-marker=&max-keys='), first)
  t.same(versions('prefix=p&delimiter=%2F&key-marker=k%20m&version-id-marker=null&max-keys=5000&encoding-type=url'), {
    prefix: 'p',
    delimiter: '/',
    keyMarker: 'k m',
    versionIdMarker: 'null',
    maxKeys: 1000,
    encodingType: 'url',
  })
  t.equal(versions('max-keys=0').maxKeys, 0)
  for (const [query, name] of [
    ['version-id-marker=v', 'version-id-marker'],
    ['key-marker=&version-id-marker=v', 'version-id-marker'],
    ['max-keys=-1', 'max-keys'],
    ['encoding-type=xml', 'encoding-type'],
  ] as const) {
    const error = refusal(() => versions(query))
    t.same([error.code, detail(error, 'ArgumentName')], ['InvalidArgument', name], query)
  }
})

test('parameters of ListParts', async (t) => {
  t.same(parts('uploadId=u'), { maxParts: 1000, partNumberMarker: 0 })
  t.same(parts('max-parts=&part-number-marker='), { maxParts: 1000, partNumberMarker: 0 })
  t.same(parts('max-parts=0&part-number-marker=2147483647'), { maxParts: 0, partNumberMarker: 2_147_483_647 })
  t.equal(parts('max-parts=1001').maxParts, 1000)
  for (const marker of ['-1', 'x', '1.5', '2147483648', '9'.repeat(40)]) {
    const error = refusal(() => parts(`part-number-marker=${marker}`))
    t.same([error.code, detail(error, 'ArgumentName')], ['InvalidArgument', 'part-number-marker'], marker)
  }
  t.equal(
    refusalCode(() => parts('max-parts=x')),
    'InvalidArgument',
  )
})

test('parameters of ListMultipartUploads', async (t) => {
  t.same(uploads('uploads'), {
    prefix: '',
    delimiter: undefined,
    keyMarker: undefined,
    uploadIdMarker: undefined,
    maxUploads: 1000,
    encodingType: undefined,
  })
  t.equal(uploads('upload-id-marker=u').uploadIdMarker, undefined)
  t.equal(uploads('key-marker=&upload-id-marker=u').uploadIdMarker, undefined)
  t.same(uploads('prefix=p&delimiter=d&key-marker=k&upload-id-marker=u&max-uploads=7&encoding-type=url'), {
    prefix: 'p',
    delimiter: 'd',
    keyMarker: 'k',
    uploadIdMarker: 'u',
    maxUploads: 7,
    encodingType: 'url',
  })
  t.equal(
    refusalCode(() => uploads('max-uploads=-1')),
    'InvalidArgument',
  )
  t.equal(
    refusalCode(() => uploads('encoding-type=')),
    'InvalidArgument',
  )
})

test('part numbers', async (t) => {
  for (const number of [1, 10_000]) t.equal(part(`partNumber=${number}&uploadId=u`), number)
  for (const query of [
    '',
    'partNumber',
    'partNumber=0',
    'partNumber=10001',
    'partNumber=-1',
    'partNumber=1.0',
    'partNumber=x',
  ]) {
    const error = refusal(() => part(query))
    t.same([error.code, detail(error, 'ArgumentName')], ['InvalidArgument', 'partNumber'], query)
  }
})

test('versions', async (t) => {
  const version = {
    key: 'a b&',
    versionId: 'v&',
    isLatest: true,
    isMarker: false,
    lastModifiedMicroseconds: MODIFIED,
    etag: 'e',
    size: 5,
  }
  const marker = { ...version, versionId: 'null', isLatest: false, isMarker: true, etag: '', size: 0 }
  const base = {
    bucket: 'b',
    prefix: '',
    maxKeys: 1000,
    entries: [version, marker, version],
    commonPrefixes: ['p&/'],
    owner,
  }
  const versionXml =
    `<Version><Key>a b&amp;</Key><VersionId>v&amp;</VersionId><IsLatest>true</IsLatest><LastModified>${TIME}` +
    `</LastModified><ETag>&quot;e&quot;</ETag><Size>5</Size>${OWNER}<StorageClass>STANDARD</StorageClass></Version>`
  const document = listVersionsResult(base)
  t.equal(
    document,
    `${DECLARATION}<ListVersionsResult${NAMESPACE}><Name>b</Name><Prefix></Prefix><KeyMarker></KeyMarker>` +
      `<VersionIdMarker></VersionIdMarker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>${versionXml}` +
      '<DeleteMarker><Key>a b&amp;</Key><VersionId>null</VersionId><IsLatest>false</IsLatest>' +
      `<LastModified>${TIME}</LastModified>${OWNER}</DeleteMarker>${versionXml}` +
      '<CommonPrefixes><Prefix>p&amp;/</Prefix></CommonPrefixes></ListVersionsResult>',
  )
  t.equal(XMLValidator.validate(document), true)
  const page = listVersionsResult({
    ...base,
    prefix: 'é',
    delimiter: '+',
    keyMarker: 'k m',
    versionIdMarker: 'w',
    encodingType: 'url',
    next: { keyMarker: 'n&', versionIdMarker: 'x&' },
  })
  t.match(page, '<Prefix>%C3%A9</Prefix><KeyMarker>k%20m</KeyMarker><VersionIdMarker>w</VersionIdMarker>')
  t.match(page, '<NextKeyMarker>n%26</NextKeyMarker><NextVersionIdMarker>x&amp;</NextVersionIdMarker><MaxKeys>')
  t.match(page, '<Delimiter>%2B</Delimiter><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>')
  t.match(page, '<Version><Key>a%20b%26</Key><VersionId>v&amp;</VersionId>')
  t.match(page, '<CommonPrefixes><Prefix>p%26/</Prefix></CommonPrefixes>')
  const behindPrefix = listVersionsResult({ ...base, next: { keyMarker: 'p&/', versionIdMarker: undefined } })
  t.match(behindPrefix, '<NextKeyMarker>p&amp;/</NextKeyMarker><MaxKeys>')
})

test('multipart uploads', async (t) => {
  t.equal(
    multipart.initiateMultipartUploadResult('b', 'k&', 'u'),
    `${DECLARATION}<InitiateMultipartUploadResult${NAMESPACE}><Bucket>b</Bucket><Key>k&amp;</Key>` +
      '<UploadId>u</UploadId></InitiateMultipartUploadResult>',
  )
  t.equal(
    multipart.completeMultipartUploadResult({ location: 'http://h/b/k%26?&', bucket: 'b', key: 'k&', etag: 'e-2' }),
    `${DECLARATION}<CompleteMultipartUploadResult${NAMESPACE}><Location>http://h/b/k%26?&amp;</Location>` +
      '<Bucket>b</Bucket><Key>k&amp;</Key><ETag>&quot;e-2&quot;</ETag></CompleteMultipartUploadResult>',
  )
  const listed = { number: 2, lastModifiedMicroseconds: MODIFIED, etag: 'e', size: 5 }
  const base = { bucket: 'b', key: 'k&', uploadId: 'u', owner, partNumberMarker: 1, maxParts: 1000, parts: [listed] }
  t.equal(
    multipart.listPartsResult(base),
    `${DECLARATION}<ListPartsResult${NAMESPACE}><Bucket>b</Bucket><Key>k&amp;</Key><UploadId>u</UploadId>${PEOPLE}` +
      '<PartNumberMarker>1</PartNumberMarker><MaxParts>1000</MaxParts><IsTruncated>false</IsTruncated>' +
      `<Part><PartNumber>2</PartNumber><LastModified>${TIME}</LastModified><ETag>&quot;e&quot;</ETag>` +
      '<Size>5</Size></Part></ListPartsResult>',
  )
  const cut = multipart.listPartsResult({ ...base, nextPartNumberMarker: 2 })
  t.match(cut, '<NextPartNumberMarker>2</NextPartNumberMarker><MaxParts>1000</MaxParts><IsTruncated>true</IsTruncated>')
})

test('lists of multipart uploads', async (t) => {
  const upload = { key: 'a b&', uploadId: 'u&', initiatedMicroseconds: MODIFIED }
  const base = { bucket: 'b', prefix: '', maxUploads: 10, uploads: [upload], commonPrefixes: ['p&/'], owner }
  t.equal(
    multipart.listMultipartUploadsResult(base),
    `${DECLARATION}<ListMultipartUploadsResult${NAMESPACE}><Bucket>b</Bucket><KeyMarker></KeyMarker>` +
      '<UploadIdMarker></UploadIdMarker><Prefix></Prefix><MaxUploads>10</MaxUploads><IsTruncated>false</IsTruncated>' +
      `<Upload><Key>a b&amp;</Key><UploadId>u&amp;</UploadId>${PEOPLE}<Initiated>${TIME}</Initiated></Upload>` +
      '<CommonPrefixes><Prefix>p&amp;/</Prefix></CommonPrefixes></ListMultipartUploadsResult>',
  )
  const page = multipart.listMultipartUploadsResult({
    ...base,
    prefix: 'é',
    delimiter: '+',
    keyMarker: 'k m',
    uploadIdMarker: 'w',
    encodingType: 'url',
    next: { keyMarker: 'n&', uploadIdMarker: 'x' },
  })
  t.match(page, '<KeyMarker>k%20m</KeyMarker><UploadIdMarker>w</UploadIdMarker><NextKeyMarker>n%26</NextKeyMarker>')
  t.match(page, '<NextUploadIdMarker>x</NextUploadIdMarker><Prefix>%C3%A9</Prefix><Delimiter>%2B</Delimiter>')
  t.match(page, '<EncodingType>url</EncodingType><MaxUploads>10</MaxUploads><IsTruncated>true</IsTruncated>')
  t.match(page, '<Upload><Key>a%20b%26</Key><UploadId>u&amp;</UploadId>')
  t.match(page, '<CommonPrefixes><Prefix>p%26/</Prefix></CommonPrefixes>')
  t.equal(XMLValidator.validate(page), true)
})
