import { test } from 'tap'
import { jsonText } from '../../cli/terminal/json-text.ts'

test('JSON for a terminal has no control character, and means what it did', async (t) => {
  const all = Array.from({ length: 0x200 }, (_, code) => String.fromCharCode(code)).join('')
  const text = jsonText({ key: all })
  t.notMatch(text, /\p{Cc}/u)
  t.same(JSON.parse(text), { key: all })
})
