/**
 * Keys and ids that are derived.
 * Proves: AUT-S3P-07.
 */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { test } from 'tap'
import { sequenceOf } from '../../engine/brands.ts'
import { KeyRing } from '../../engine/keys/key-ring.ts'
import { OpaqueIds } from '../../engine/keys/opaque-ids.ts'
import {
  checkpointGenerationSeed,
  keyFileKey,
  masterKeyCheck,
  previousMasterKeyKey,
  proofSigningSeed,
  storeKeys,
} from '../../engine/keys/store-keys.ts'

const sequences = fc.maxSafeNat().map(sequenceOf)

test('ids of one and of many', async (t) => {
  const ids = new OpaqueIds(randomBytes(32))
  t.same(ids.encodeAll([]), [])
  fc.assert(
    fc.property(fc.array(sequences), (many) => {
      const encoded = ids.encodeAll(many)
      const one = many.map((sequence) => ids.encode(sequenceOf(sequence)))
      const back = encoded.map((id) => ids.decode(id))
      return isDeepStrictEqual(encoded, one) && isDeepStrictEqual(back, many)
    }),
  )
})

test('an id has 22 characters of base64url, and is another one under another key', async (t) => {
  const [ids, others] = [new OpaqueIds(randomBytes(32)), new OpaqueIds(randomBytes(32))]
  for (const sequence of [0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    t.match(ids.encode(sequenceOf(sequence)), /^[\w-]{22}$/)
    t.not(ids.encode(sequenceOf(sequence)), others.encode(sequenceOf(sequence)))
    t.equal(others.decode(ids.encode(sequenceOf(sequence))), undefined)
  }
})

test('no id begins like an option of a command', async (t) => {
  const ids = new OpaqueIds(randomBytes(32))
  const many = ids.encodeAll(Array.from({ length: 2000 }, (_, sequence) => sequenceOf(sequence)))
  t.same(
    many.filter((id) => id.startsWith('-')),
    [],
  )
})

test('what was never given out is no id', async (t) => {
  const ids = new OpaqueIds(randomBytes(32))
  const id = ids.encode(sequenceOf(7))
  // One of 22 characters has four bits that belong to no byte: 15 other texts decode to the same block.
  const first = id.startsWith('A') ? 'B' : 'A'
  const rest = id.slice(1)
  for (const text of [
    '',
    'null',
    rest,
    `${id}A`,
    `${first}${rest}`,
    `=${rest}`,
    `${id.slice(0, -1)}=`,
    `${rest}${id[0]}`,
  ]) {
    t.equal(ids.decode(text), undefined, text)
  }
  const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map((other) => other + rest)
  t.same(
    others.filter((text) => ids.decode(text) !== undefined),
    [id],
  )
})

const MASTER_KEY = Buffer.alloc(32, 0x11)
const DEPLOYMENT = Buffer.alloc(16, 0x22)

const GOLDEN = {
  payloads: 'a642e45b7ce86420cabe2652d991cc327d2ea41525c08f19ec33342a83fc8a2f',
  versionIds: 'c3fc8979ea810f264dca13e35001c1c3f8a55f3f42844bec788ca36d87f4df17',
  uploadIds: '7e8a29b650adf7910531fa38f0a0dff1845cc9d9ea576ddf889196cfa2aadfca',
  credentialSecrets: 'baf006df97af991b192b85224dcecdc4529efc78211f605f5560224fb00bf83b',
  webhookSecrets: '3e349e216fe97269330e6c8302b04d4cf9dc307cec905dd785379120483ec9af',
  continuationTokens: '3578ebd8e590bbdbd14c681db17a5b11dcb4a6d551f70ac3e26dbc593fcac33b',
  accessChanges: '3ab59653341bbe8daabc232b1d6c5201e0a6cec84bce26cc75eb000854f65280',
  accessRows: 'c9be06fd4abcd71aa2493c32cb5c5f9f5afc94d0febbe056d3c7068aa54acf01',
  masterKeyCheck: '788b039167e156411948580a20c5b1b7270a46a94941c1fab9bf3e86d1785e36',
  capabilityDigests: 'dd32c666de00d1b4d0733158573e4a4850d9752f0c9470af1a3c482558659b5e',
  capabilityTokens: 'f10791572d8e7be75e122eddb951e72f3001ef05e6179af5d2ce924ad5ed0894',
  capabilityPasswords: '573ba6ba389587ab16608974fa033a4f6b589cbc63f26fcaa7923dc922bb3aab',
  capabilityTickets: '34066275f2306b1bd5ae2134536ea6497fd8fbfb275983c023175e575f29645d',
  previousMasterKey: '12c137dc628fac5aa79891c4d8f069d35144e3d6215cea13d38aef8dc8c39a13',
  keyFile: 'ae2d548e02393d41681c1e494f605c3df67ed6ae02b276dfd5a6ebd11eb4fce5',
  checkpointSigning: '1dbf95e7427b89cee63fbff6f7605db3ae2ddc70ab899bb33558901e3fa80baf',
  witnessSigning: '3c69a15236c69b31ad85f9cd604dc56c2cd85bacb58af5dd9f02570e1464ae93',
  checkpointGenerations: '1db984403cd32542a1ceec1af6c091a4c1c3dea1486285653ddc4acd8733f24b',
  checkpointGeneration1: 'b9a16efb17c7e0a162b16dfc64fe25fec04aecd5b419f9cb94ad01240fa63ef9',
  proofSigning: '99b20b7f0056b10e0ec2d8c58442f426832a96db322b4f884641400e48af80a1',
}

test('every key is what it always was, and no other', async (t) => {
  const { earlier, ...current } = storeKeys(MASTER_KEY, DEPLOYMENT)
  t.same(earlier, [])
  const keys = {
    ...current,
    previousMasterKey: previousMasterKeyKey(MASTER_KEY, DEPLOYMENT),
    keyFile: keyFileKey(MASTER_KEY, DEPLOYMENT),
    masterKeyCheck: masterKeyCheck(MASTER_KEY, DEPLOYMENT),
    proofSigning: proofSigningSeed(MASTER_KEY),
    checkpointGeneration1: checkpointGenerationSeed(current.checkpointGenerations, 1),
  }
  const digits = Object.entries(keys).map(([name, key]) => [name, Buffer.from(key).toString('hex')])
  t.same(Object.fromEntries(digits), GOLDEN)
})

test('the genesis recognizes its master key', async (t) => {
  const genesis = { deploymentId: DEPLOYMENT, masterKeyCheck: Buffer.from(GOLDEN.masterKeyCheck, 'hex') }
  t.equal(KeyRing.of(genesis, [], MASTER_KEY)?.isCurrent, true)
  t.equal(KeyRing.of(genesis, [], Buffer.alloc(32, 0x12)), undefined)
})
