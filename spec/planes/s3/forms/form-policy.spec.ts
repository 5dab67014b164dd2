/** The language of a form's policy, without a server. */
import { test } from 'tap'
import { millisecondsOf } from '../../../../engine/brands.ts'
import { S3Error } from '../../../../planes/s3/errors/s3-errors.ts'
import { judgeForm } from '../../../../planes/s3/forms/form-policy.ts'

const NOW = millisecondsOf(Date.UTC(2030, 0, 1))
const EXPIRATION = '2030-01-01T00:00:01.000Z'

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The bounds of the file, or why the form is refused. */
function judged(
  conditions: readonly unknown[] | string,
  fields: Readonly<Record<string, string>> = {},
  at = 0,
): unknown {
  const text = typeof conditions === 'string' ? conditions : JSON.stringify({ expiration: EXPIRATION, conditions })
  try {
    return judgeForm(base64(text), new Map(Object.entries(fields)), millisecondsOf(NOW + at))
  } catch (error) {
    if (error instanceof S3Error) return `${error.code}: ${error.message}`
    throw error
  }
}

const ANY = { least: 0, most: Infinity }

test('conditions of every kind', (t) => {
  t.same(judged([{ a: 'b' }], { a: 'b' }), ANY)
  t.same(judged([['eq', '$a', 'b']], { a: 'b' }), ANY)
  t.same(judged([['Starts-With', '$A', '']], { a: 'b' }), ANY, 'names and operators in any case')
  t.same(judged([['starts-with', '$content-type', 'image/']], { 'content-type': 'image/png, image/gif' }), ANY)
  t.match(
    judged([['starts-with', '$content-type', 'image/']], { 'content-type': 'image/png,text/html' }),
    'AccessDenied',
  )
  t.same(judged([{ a: 'b' }, ['starts-with', '$a', 'b']], { a: 'b' }), ANY, 'all of them')
  t.match(judged([{ a: 'b' }, ['starts-with', '$a', 'c']], { a: 'b' }), 'AccessDenied')
  t.same(
    judged([
      ['content-length-range', 1, 5],
      ['content-length-range', '2', '9'],
    ]),
    { least: 2, most: 5 },
  )
  t.end()
})

test('a condition that is not met or cannot be read is refused by name', (t) => {
  const refusal = 'AccessDenied: Invalid according to Policy: Policy Condition failed: '
  for (const [condition, shown] of [
    [{ a: 'B' }, '["eq", "$a", "B"]'],
    [{ absent: '' }, '["eq", "$absent", ""]'],
    [['starts-with', '$absent', ''], '["starts-with", "$absent", ""]'],
    [['eq', 'a', 'b'], '["eq", "a", "b"]'],
    [['matches', '$a', 'b'], '["matches", "$a", "b"]'],
    [['eq', '$a', 1], '["eq", "$a", 1]'],
    [['eq', '$a'], '["eq", "$a"]'],
    [[], '[]'],
    [['content-length-range', 0], '["content-length-range", 0]'],
    [['content-length-range', -1, 0], '["content-length-range", -1, 0]'],
    [['content-length-range', 0, 1.5], '["content-length-range", 0, 1.5]'],
    [['content-length-range', 0, 1e21], '["content-length-range", 0, 1e+21]'],
  ] as const)
    t.equal(judged([{ a: 'b' }, condition], { a: 'b' }), `${refusal}${shown}`, shown)
  t.end()
})

test('every field has a condition but those that are exempt', (t) => {
  const exempt = { file: 'x', policy: 'x', 'x-amz-signature': 'x', 'x-ignore-me': 'x' }
  t.same(judged([], exempt), ANY)
  for (const name of ['key', 'bucket', 'x-amz-date', 'x-amz-meta-a', 'awsaccesskeyid', 'x-ignor', '__proto__'])
    t.equal(
      judged([], { ...exempt, ...Object.fromEntries([[name, 'x']]) }),
      `AccessDenied: Invalid according to Policy: Extra input fields: ${name}`,
      name,
    )
  t.end()
})

test('a policy holds until its expiration, and speaks JSON with two escapes more', (t) => {
  t.same(judged([], {}, 1000), ANY)
  t.equal(judged([], {}, 1001), 'AccessDenied: Invalid according to Policy: Policy expired.')
  const escaped = `{"expiration": "${EXPIRATION}", "conditions": [["eq", "$a", "\\$\\v\\\\$\\u0041\\n"]]}`
  t.same(judged(escaped, { a: '$\u000b\\$A\n' }), ANY)
  for (const text of ['', '{', `{"expiration": "2030-01-01"}`, '{"a":1}{"b":2}', '\ud800'])
    t.match(judged(text), /^InvalidPolicyDocument: Invalid Policy: /, text)
  for (const policy of ['', '!', 'eyJ9', Buffer.of(0xff, 0xfe).toString('base64'), 'e30\n', 'e30===='])
    t.throws(() => judgeForm(policy, new Map(), NOW), { code: 'InvalidPolicyDocument' }, policy)
  t.end()
})
