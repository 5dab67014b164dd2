/** Memory of ciphers (engine/payloads/free-memory.ts). */
import { createCipheriv, randomBytes } from 'node:crypto'
import { test } from 'tap'
import { freeMemory } from '../../../engine/payloads/free-memory.ts'

function encrypted(bytes: number) {
  return createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12)).update(Buffer.alloc(bytes))
}

test('what a cipher made is given back, again and again', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    for (const size of [1, 4096, 65_536, 1 << 20]) {
      const bytes = encrypted(size)
      t.equal(bytes.length, size)
      freeMemory(bytes)
      t.same([bytes.length, bytes.buffer.byteLength], [0, 0])
    }
    // Ports close in the background: it must work before that and after it.
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
})

test('memory that is shared with other bytes stays', async (t) => {
  const whole = Buffer.from('a text in the pool of small buffers')
  t.ok(whole.length < whole.buffer.byteLength)
  freeMemory(whole)
  t.equal(String(whole), 'a text in the pool of small buffers')
  const part = encrypted(4096).subarray(1)
  freeMemory(part)
  t.equal(part.length, 4095)
  freeMemory(Buffer.alloc(0))
})
