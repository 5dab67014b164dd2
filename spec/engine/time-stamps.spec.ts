/** Questions and answers of RFC 3161, beside what openssl makes of them. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'tap'
import { nonceOf, readTimeStamp, timeStampRequest } from '../../engine/checkpoints/time-stamp.ts'
import { timeStampAuthority } from '../support/time-stamp-authority.ts'

const ROOT = Buffer.alloc(32, 0x5a)

test('openssl answers our question, accepts its answer, and refuses it for another root', async (t) => {
  const authority = timeStampAuthority(join(t.testdir(), 'tsa'))
  const nonces = [undefined, nonceOf(Buffer.alloc(8)), nonceOf(Buffer.alloc(8, 0xff))]
  for (const nonce of nonces) {
    const question = timeStampRequest(ROOT, nonce)
    const answer = authority.answer(question)
    const before = Date.now() - 60_000
    const { assertedMicroseconds } = readTimeStamp(answer, { root: ROOT, nonce })
    t.ok(assertedMicroseconds > before * 1000 && assertedMicroseconds < (Date.now() + 60_000) * 1000)
    t.ok(authority.verify(answer, ROOT))
    const other = Buffer.alloc(32, 1)
    t.notOk(authority.verify(answer, other))
    t.throws(() => readTimeStamp(answer, { root: other, nonce }), {
      name: 'TimeStampError',
      message: /something else than the root/,
    })
    t.throws(() => readTimeStamp(answer, { root: ROOT, nonce: nonceOf(Buffer.alloc(8, 0x11)) }), {
      name: 'TimeStampError',
      message: /nonce/,
    })
  }
})

test('a refusal, and whatever is not an answer, is told as what it is', async (t) => {
  const authority = timeStampAuthority(join(t.testdir(), 'tsa'))
  const asked = { root: ROOT, nonce: undefined }
  const sha1 = execFileSync('openssl', ['ts', '-query', '-digest', '00'.repeat(20), '-sha1'])
  t.throws(() => readTimeStamp(authority.answer(sha1), asked), {
    name: 'TimeStampError',
    message: /refused: rejection/,
  })
  const answer = authority.answer(timeStampRequest(ROOT, undefined))
  for (let length = 0; length < answer.length; length += 1) {
    t.throws(() => readTimeStamp(answer.subarray(0, length), asked), { name: 'TimeStampError' }, `cut to ${length}`)
  }
  t.throws(() => readTimeStamp(Buffer.concat([answer, Buffer.of(0)]), asked), { name: 'TimeStampError' })
  t.throws(() => readTimeStamp(Buffer.from('<html>'), asked), { name: 'TimeStampError' })
  t.throws(() => readTimeStamp(Buffer.from('3003020100', 'hex').subarray(0, 5), asked), { name: 'TimeStampError' })
  // Every other error would be one of ours: no byte may lead to it.
  for (let at = 0; at < answer.length; at += 1) {
    const flipped = Buffer.from(answer)
    flipped[at]! ^= 0x80
    try {
      readTimeStamp(flipped, asked)
    } catch (error) {
      if ((error as Error).name !== 'TimeStampError') t.fail(`byte ${at}: ${String(error)}`)
    }
  }
})
