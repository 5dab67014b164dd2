/** What the round trips in JavaScript share: they print one JSON object a line, as data-tools/checks.py does. */
import { createHash } from 'node:crypto'

const [endpoint = '', accessKey = '', secretKey = '', bucket = '', mode = ''] = process.argv.slice(2)

export { accessKey, bucket, endpoint, secretKey }
export const isTls = endpoint.startsWith('https:')
export const extended = mode === 'extended'

export function check(name, got, expected) {
  process.stdout.write(`${JSON.stringify({ name, got, expected })}\n`)
}

/** A call that works where `works` says so, and elsewhere fails with this word in what it says. */
export async function where(works, name, call, expected, word) {
  let got
  try {
    got = await call()
  } catch (error) {
    const said = `${error.name} ${error.code} ${error.message}`
    if (works) check(name, said, expected)
    else check(name, said.includes(word) ? word : said, word)
    return
  }
  check(name, got, works ? expected : word)
}

/** Bytes of which no two runs of eight are the same. */
export function sample(count) {
  const bytes = Buffer.alloc(count + 8)
  for (let index = 0; index < count; index += 8) bytes.writeUInt32BE(index, index)
  return bytes.subarray(0, count)
}

export function digest(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The last line: a program without it broke off. */
export function end() {
  check('end', true, true)
}
