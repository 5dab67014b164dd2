/** What two runs made up by themselves must look the same in both. */
import { test } from 'tap'
import { Names } from './names.ts'

test('hashes of records look the same, whatever their first digit is, and where numbers are masked', (t) => {
  const names = new Names(1, 2)
  const hash = 'ab'.repeat(31)
  for (const text of [`a1${hash}`, `1a${hash}`, `#a${hash}`, `#e${hash.slice(0, 40)}`]) {
    t.equal(names.canonical(`"head_hash":"${text}"`), '"head_hash":"<hash>"', text)
  }
  t.end()
})

test('a name is known behind an escape', (t) => {
  const names = new Names(1, 2)
  const account = `sa-${'a2'.repeat(10)}`
  names.learn(`"id":"${account}"`)
  t.equal(names.canonical(`/bindings/%00${account}?x`), '/bindings/%00<account-1>?x')
  t.equal(names.canonical(`{"id":"\\u0000${account}"}`), '{"id":"\\u0000<account-1>"}')
  t.end()
})

test('of which commit the program is differs between builds', (t) => {
  const names = new Names(1, 2)
  for (const commit of ['0123456789ab', '0123456789a+']) {
    t.equal(names.canonical(`"version":"1.0.0","commit":"${commit}"`), '"version":"1.0.0","commit":"<commit>"')
    t.equal(names.canonical(`1.0.0 (commit ${commit})`), '1.0.0 (commit <commit>)')
    t.equal(names.canonical(`{version="1.0.0",commit="${commit}"}`), '{version="1.0.0",commit="<commit>"}')
    t.equal(names.canonical('{commit="#b#d#+"}'), '{commit="<commit>"}')
  }
  t.end()
})
