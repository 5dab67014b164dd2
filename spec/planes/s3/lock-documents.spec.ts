import * as fc from 'fast-check'
import { test } from 'tap'
import { legalHoldDocument, parseLegalHold } from '../../../planes/s3/legal-hold.ts'
import { objectLockConfiguration, parseObjectLockConfiguration } from '../../../planes/s3/object-lock-configuration.ts'
import { parseRetention, retentionDocument } from '../../../planes/s3/retention.ts'
import { isoMilliseconds, parseIsoTimestamp } from '../../../planes/s3/timestamps.ts'
import { parseVersioningConfiguration, versioningConfiguration } from '../../../planes/s3/versioning-configuration.ts'
import { detail, refusal, refusalCode } from './wire-request.ts'

const BYTES_MAXIMUM = 1024 ** 2
const NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
const NOW = Date.UTC(2026, 0, 31, 12)
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

test('moments in ISO 8601', async (t) => {
  const moments: [text: string, milliseconds: number][] = [
    ['2026-01-31T12:00:00Z', NOW],
    ['2026-01-31T12:00:00.000Z', NOW],
    ['2026-01-31T14:30:00+02:30', NOW],
    ['2026-01-31T02:00:00.0-1000', NOW],
    ['2026-01-31T12:00:00.001Z', NOW + 1],
    ['2026-01-31T12:00:00.1Z', NOW + 100],
    ['2026-01-31T12:00:00.000001Z', NOW + 1],
    ['2026-01-31T12:00:00.123456789+00:00', NOW + 124],
    ['2026-01-31T12:00:00.999999Z', NOW + 1000],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2140-01-01T00:00:00Z', Date.UTC(2140, 0, 1)],
    ['9999-12-31T23:59:59Z', LAST - 999],
    ['9999-12-31T23:59:59.999Z', LAST],
    ['9999-12-31T23:59:59.999999Z', LAST],
    ['1969-12-31T23:59:59Z', -1000],
  ]
  for (const [text, milliseconds] of moments) t.equal(parseIsoTimestamp(text), milliseconds, text)
  const none = [
    '',
    '2026-01-31',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31 12:00:00Z',
    '2026-01-31t12:00:00z',
    ' 2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00Z\n',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00.0000000000Z',
    '2026-01-31T12:00:00+24:00',
    '2026-01-31T12:00:00+00:60',
    '2026-01-31T12:00:00+02',
    '2025-02-29T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-01-31T12:00:60Z',
    '0099-01-31T12:00:00Z',
    '+10000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-00:01',
    '20260131T120000Z',
    '1769860800',
  ]
  for (const text of none) t.equal(parseIsoTimestamp(text), undefined, text)
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(100, 0), max: LAST }), (milliseconds) => {
      return parseIsoTimestamp(isoMilliseconds(milliseconds)) === milliseconds
    }),
  )
})

function versioning(inner: string) {
  return parseVersioningConfiguration(Buffer.from(`<VersioningConfiguration>${inner}</VersioningConfiguration>`), 1000)
}

test('versioning', async (t) => {
  t.equal(versioning('<Status>Enabled</Status>'), 'enabled')
  t.equal(versioning('<MfaDelete>Disabled</MfaDelete><Status> Suspended </Status>'), 'suspended')
  const refused: [inner: string, code: string][] = [
    ['', 'IllegalVersioningConfigurationException'],
    ['<MfaDelete>Disabled</MfaDelete>', 'IllegalVersioningConfigurationException'],
    ['<MfaDelete>Enabled</MfaDelete><Status>Enabled</Status>', 'NotImplemented'],
    ['<MfaDelete>x</MfaDelete><Status>Enabled</Status>', 'MalformedXML'],
    ['<Status/>', 'MalformedXML'],
    ['<Status>enabled</Status>', 'MalformedXML'],
    ['<Status>Off</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><Status>Enabled</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><Other/>', 'MalformedXML'],
    [' '.repeat(1000), 'MaxMessageLengthExceeded'],
  ]
  for (const [inner, code] of refused)
    t.equal(
      refusalCode(() => versioning(inner)),
      code,
      inner.trim(),
    )
  t.equal(
    refusalCode(() => parseVersioningConfiguration(Buffer.alloc(0), 1000)),
    'MalformedXML',
  )
  t.equal(
    versioningConfiguration('off'),
    `${DECLARATION}<VersioningConfiguration${NAMESPACE}></VersioningConfiguration>`,
  )
  t.match(versioningConfiguration('enabled'), '<Status>Enabled</Status></VersioningConfiguration>')
  t.match(versioningConfiguration('suspended'), '<Status>Suspended</Status></VersioningConfiguration>')
})

function lockConfiguration(inner: string) {
  const document = `<ObjectLockConfiguration>${inner}</ObjectLockConfiguration>`
  return parseObjectLockConfiguration(Buffer.from(document), BYTES_MAXIMUM)
}

const ENABLED = '<ObjectLockEnabled>Enabled</ObjectLockEnabled>'
const COMPLIANCE = '<Mode>COMPLIANCE</Mode>'

function defaultRetention(inner: string) {
  return lockConfiguration(`${ENABLED}<Rule><DefaultRetention>${inner}</DefaultRetention></Rule>`)
}

test('default retention', async (t) => {
  t.equal(lockConfiguration(ENABLED), undefined)
  t.same(defaultRetention('<Mode>GOVERNANCE</Mode><Days>1</Days>'), { mode: 'GOVERNANCE', unit: 'days', value: 1 })
  t.same(defaultRetention(`<Years> 100 </Years>${COMPLIANCE}`), { mode: 'COMPLIANCE', unit: 'years', value: 100 })
  t.equal(defaultRetention(`${COMPLIANCE}<Days>36500</Days>`)?.value, 36_500)
  const malformed = [
    '<Days>1</Days>',
    '<Mode>governance</Mode><Days>1</Days>',
    '<Mode/><Days>1</Days>',
    COMPLIANCE,
    `${COMPLIANCE}<Days>1</Days><Years>1</Years>`,
    `${COMPLIANCE}<Days>0</Days><Years>1</Years>`,
    `${COMPLIANCE}<Days>1</Days><Days>1</Days>`,
    `${COMPLIANCE}<Days/>`,
    `${COMPLIANCE}<Days>1.5</Days>`,
    `${COMPLIANCE}<Days>1e2</Days>`,
    `${COMPLIANCE}<Days>x</Days>`,
    `${COMPLIANCE}<Days>1</Days><Other/>`,
  ]
  for (const inner of malformed)
    t.equal(
      refusalCode(() => defaultRetention(inner)),
      'MalformedXML',
      inner,
    )
  const around = [
    '',
    '<Rule/>',
    '<ObjectLockEnabled>enabled</ObjectLockEnabled>',
    '<ObjectLockEnabled>Disabled</ObjectLockEnabled>',
    `${ENABLED}<Rule/>`,
    `${ENABLED}<Rule><Other/></Rule>`,
    `${ENABLED}<Rule><DefaultRetention/></Rule>`,
    `${ENABLED}${`<Rule><DefaultRetention>${COMPLIANCE}<Days>1</Days></DefaultRetention></Rule>`.repeat(2)}`,
  ]
  for (const inner of around)
    t.equal(
      refusalCode(() => lockConfiguration(inner)),
      'MalformedXML',
      inner,
    )
  for (const period of ['Days>0', 'Days>-1', 'Years>0', 'Days>36501', 'Years>101', `Days>${'9'.repeat(400)}`]) {
    const inner = `${COMPLIANCE}<${period}</${period.split('>')[0]}>`
    t.equal(
      refusalCode(() => defaultRetention(inner)),
      'InvalidRetentionPeriod',
      inner.slice(0, 60),
    )
  }
  t.equal(
    objectLockConfiguration({ mode: 'GOVERNANCE', unit: 'years', value: 7 }),
    `${DECLARATION}<ObjectLockConfiguration${NAMESPACE}>${ENABLED}<Rule><DefaultRetention><Mode>GOVERNANCE</Mode>` +
      '<Years>7</Years></DefaultRetention></Rule></ObjectLockConfiguration>',
  )
  t.match(objectLockConfiguration({ mode: 'COMPLIANCE', unit: 'days', value: 2 }), `${COMPLIANCE}<Days>2</Days>`)
  t.match(objectLockConfiguration(undefined), `>${ENABLED}</ObjectLockConfiguration>`)
})

function retention(inner: string) {
  return parseRetention(Buffer.from(`<Retention>${inner}</Retention>`), BYTES_MAXIMUM, NOW)
}

test('retention of a version', async (t) => {
  const until = (date: string) => retention(`${COMPLIANCE}<RetainUntilDate>${date}</RetainUntilDate>`)
  t.equal(retention(' '), undefined)
  t.same(until('2026-01-31T12:00:00.001Z'), { mode: 'COMPLIANCE', untilMilliseconds: NOW + 1 })
  t.equal(until('9999-12-31T23:59:59Z')?.untilMilliseconds, LAST - 999)
  for (const date of ['2026-01-31T12:00:00Z', '2026-01-31T11:59:59.999Z', '1970-01-01T00:00:00Z']) {
    const error = refusal(() => until(date))
    t.equal(error.code, 'InvalidArgument')
    t.same([detail(error, 'ArgumentName'), detail(error, 'ArgumentValue')], ['RetainUntilDate', date])
  }
  for (const date of ['', 'never', '2030-02-30T00:00:00Z', '2030-01-01']) {
    t.equal(
      refusalCode(() => until(date)),
      'MalformedXML',
      date,
    )
  }
  const malformed = [
    'text',
    COMPLIANCE,
    '<RetainUntilDate>2030-01-01T00:00:00Z</RetainUntilDate>',
    '<Mode>compliance</Mode><RetainUntilDate>2030-01-01T00:00:00Z</RetainUntilDate>',
    `${COMPLIANCE}${COMPLIANCE}<RetainUntilDate>2030-01-01T00:00:00Z</RetainUntilDate>`,
    '<Other/>',
  ]
  for (const inner of malformed)
    t.equal(
      refusalCode(() => retention(inner)),
      'MalformedXML',
      inner,
    )
  t.equal(
    retentionDocument({ mode: 'COMPLIANCE', untilMilliseconds: LAST }),
    `${DECLARATION}<Retention${NAMESPACE}>${COMPLIANCE}<RetainUntilDate>9999-12-31T23:59:59.999Z</RetainUntilDate>` +
      '</Retention>',
  )
})

function hold(inner: string) {
  return parseLegalHold(Buffer.from(`<LegalHold>${inner}</LegalHold>`), BYTES_MAXIMUM)
}

test('legal hold of a version', async (t) => {
  t.equal(hold('<Status>ON</Status>'), true)
  t.equal(hold('<Status>OFF</Status>'), false)
  for (const inner of ['', '<Status/>', '<Status>on</Status>', '<Status>abc</Status>', '<Other/>', 'ON']) {
    t.equal(
      refusalCode(() => hold(inner)),
      'MalformedXML',
      inner,
    )
  }
  t.equal(legalHoldDocument(true), `${DECLARATION}<LegalHold${NAMESPACE}><Status>ON</Status></LegalHold>`)
  t.match(legalHoldDocument(false), '<Status>OFF</Status>')
})
