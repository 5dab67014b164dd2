/** What a client sees stays as it is in the recording that is kept. README.md says how to look at a difference. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { BLOCKS } from './blocks.ts'
import { compare, differenceText, middle, wholeText, withoutLibrary, withoutMeant } from './comparison.ts'
import { Names } from './names.ts'
import { ON_PURPOSE } from './on-purpose.ts'
import { record } from './record.ts'
import { type Exchange, readRecording, recordingOf } from './recording.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

test('answers are those that are kept', async (t) => {
  const exchanges = await record(root, BLOCKS, (line) => t.comment(line))
  const kept = readRecording(`${root}/spec/answers/recorded/answers.gz`)
  if (HTTP_DRIVER === 'uws') {
    t.same(withoutMeant(compare(kept, recordingOf(exchanges)), ON_PURPOSE).map(differenceText), [])
    return
  }
  const differences = compare(withoutLibrary(kept), withoutLibrary(recordingOf(exchanges)))
  const meant = readFileSync(`${root}/spec/answers/recorded/over-node.txt`, 'utf8')
  t.equal(wholeText(withoutMeant(differences, ON_PURPOSE)), meant, 'over the other driver only what is kept differs')
})

test('a difference is found in every part of an answer', async (t) => {
  const one: Exchange = { block: 'b', ask: 'a', status: '200 OK', head: ['x: 1', 'y: 2'], body: 'old', records: ['r'] }
  const shapes = (other: Partial<Exchange>) =>
    compare(recordingOf([one]), recordingOf([{ ...one, ...other }])).map(({ shape }) => shape)
  t.same(shapes({}), [])
  t.same(shapes({ status: '404 Not Found' }), ['status 200 OK is now 404 Not Found'])
  t.same(shapes({ head: ['y: 2', 'x: 1'] }), ['headers are in another order: y, x'])
  t.same(shapes({ head: ['x: 1', 'y: 3'] }), ['headers: without y: 2; with y: 3'])
  t.same(shapes({ body: 'new' }), ['body: "old" is now "new"'])
  t.same(shapes({ records: [] }), ['records (1 and 0): "r" is now ""'])
  t.same(shapes({ ask: 'c' }), ['the request is another: "a" is now "c"'])
  t.same(shapes({ block: 'c' }).length, 2)
  t.equal(
    middle('the same, old, the same', 'the same, new, the same'),
    '"the same, old, the same" is now "the same, new, the same"',
  )
  const differences = compare(recordingOf([one]), recordingOf([{ ...one, body: 'new' }]))
  t.same(withoutMeant(differences, [{ shape: /^body/, ask: /^b 1: a$/, reason: 'told' }]), [])
  t.equal(withoutMeant(differences, [{ shape: /^body/, ask: /^c/, reason: 'told' }]).length, 1)
})

test('the same thing has the same name, and a time its form', async (t) => {
  const names = new Names(40_001, 40_002)
  const now = Date.parse('2026-01-01T00:00:00Z')
  const show = (text: string) => names.canonical(text, now)
  const version = 'Abcdefghijklmnopqrst-_'
  names.learn(`x-amz-version-id: ${version}\n<VersionId>${version}</VersionId>"id":"sa-abcdefghij2345672345"`)
  t.equal(show(`key?versionId=${version} sa-abcdefghij2345672345`), 'key?versionId=<version-1> <account-1>')
  t.equal(show('127.0.0.1:40001 127.0.0.1:40002'), '127.0.0.1:<s3> 127.0.0.1:<api>')
  t.equal(show('2026-01-01T00:01:00.123Z'), '<iso3>')
  t.equal(show('2026-01-31T00:00:00.123456Z'), '<iso6+30d>')
  t.equal(show('Thu, 01 Jan 2026 02:00:00 GMT'), '<http+2h>')
  t.equal(show('20251231T220000Z'), '<amz-2h>')
  t.equal(show('not a time such as 2026-08-01T12:00:00Z'), 'not a time such as 2026-08-01T12:00:00Z')
  t.equal(show('2095-01-01T00:00:00Z 1970-01-01T00:00:00Z'), '2095-01-01T00:00:00Z 1970-01-01T00:00:00Z')
})
