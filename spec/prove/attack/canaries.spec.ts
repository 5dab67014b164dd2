import { mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'tap'
import { Canaries } from './canaries.ts'

const SECRET = 'a/secret+that-nobody-may-see'
const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const HEX = '0f'.repeat(32)

function canaries(): Canaries {
  const made = new Canaries()
  made.add('secret', SECRET)
  made.addBytes('key', KEY)
  made.addSignature(HEX)
  return made
}

test('a secret is found however it is spelled', (t) => {
  const found = canaries()
  const spellings: readonly (readonly [text: string, name: string])[] = [
    [`x${SECRET}x`, 'secret'],
    [Buffer.from(SECRET).toString('hex'), 'secret in hex'],
    [`?token=${encodeURIComponent(SECRET)}`, 'secret in a URL'],
    [Buffer.from(SECRET).toString('base64'), 'secret in base64'],
    [Buffer.from(`root:${SECRET}`).toString('base64'), 'secret in base64'],
    [Buffer.from(`user:${SECRET}`).toString('base64'), 'secret in base64'],
    [Buffer.from(`admin:${SECRET}\n`).toString('base64'), 'secret in base64'],
    [KEY.toString('latin1'), 'key in bytes'],
    [`"${KEY.toString('hex')}"`, 'key in hex'],
    [KEY.toString('base64'), 'key in base64'],
    [`<SignatureProvided>${HEX}</SignatureProvided>`, 'a signature'],
  ]
  for (const [text, name] of spellings) t.equal(found.findIn(text), name, text)
  t.equal(found.findIn(`${SECRET.slice(1)} ${'0e'.repeat(32)}`), undefined)
  t.equal(found.signatures, 1)
  t.end()
})

test('a secret is found in a file', (t) => {
  const directory = t.testdir()
  mkdirSync(`${directory}/a/b`, { recursive: true })
  writeFileSync(`${directory}/a/b/clean`, 'nothing')
  writeFileSync(`${directory}/a/b/found`, Buffer.concat([Buffer.from([0xff, 0x00]), KEY]))
  t.same([...canaries().findBelow(directory)], [[`${directory}/a/b/found`, 'key in bytes']])
  t.end()
})
