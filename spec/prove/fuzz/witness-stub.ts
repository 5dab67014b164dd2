/** A witness that has seen five entries of a log, without a store. */
import { millisecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { SigningKey } from '../../../engine/keys/signing-key.ts'
import { readVerifierKey } from '../../../engine/checkpoints/checkpoint-note.ts'
import { Witness } from '../../../planes/management/checkpoints/witness.ts'
import { OtherLog } from '../../support/other-log.ts'

export const LOG = new OtherLog('other.example/log')
export const SEEN = 5
export const WITNESS_KEY = new SigningKey(Buffer.alloc(32, 4))

const SEEN_LOG = {
  origin: LOG.origin,
  size: SEEN,
  root: LOG.root(SEEN),
  publicKey: LOG.key.publicKey,
  seconds: 1,
  sequence: sequenceOf(9),
  first: { sequence: sequenceOf(9), seconds: 1 },
}

export const WITNESS = new Witness({
  name: 'fuzz.witness',
  key: WITNESS_KEY,
  logs: [readVerifierKey(LOG.vkey)],
  reader: { witnessed: (origin) => (origin === LOG.origin ? SEEN_LOG : undefined), allWitnessed: () => [SEEN_LOG] },
  clock: () => millisecondsOf(1_795_000_000_000),
})
