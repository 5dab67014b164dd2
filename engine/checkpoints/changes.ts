import { originText, receiptBytes, receiptGiver, signature64 } from '../events/names.ts'
import { defineChange } from '../events/schema/change.ts'
import { digest, integer, microseconds, optional, wordOf } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'
import { RECEIPT_KINDS } from '../events/values.ts'

/** The store signed what its records were: the roots of two trees over the hashes of the first of them. */
export const checkpointSigned = defineChange('checkpoint.signed', 47, {
  size: field(integer, 'size', 'records covered: all with a smaller sequence'),
  root: field(digest, 'root', 'of the tree of RFC 6962, see "Checkpoints"'),
  bundleRoot: field(digest, 'bundle root', 'of the tree of proof bundles'),
  previous: field(digest, 'hash of the entry of the checkpoint before', 'zeros without one'),
  origin: field(originText, 'origin', 'the name that the log has for those who verify it'),
  publicKey: field(digest, 'public key', 'Ed25519'),
  signature: field(signature64, 'signature', 'Ed25519, of origin, size and root as a checkpoint has them'),
})

const size = field(integer, 'size', 'of the checkpoint')

/** An outside party has seen a checkpoint. Its statement is kept, because it cannot be made again. */
export const checkpointReceipt = defineChange('checkpoint.receipt', 52, {
  size,
  kind: field(wordOf(RECEIPT_KINDS), 'kind'),
  giver: field(receiptGiver, 'giver', 'URL of the authority, name of the witness, or address of the lock'),
  receipt: field(receiptBytes, 'receipt', 'see "Receipts"'),
  assertedMicroseconds: field(optional(microseconds), 'asserted time', 'by the giver; nil: none'),
})

/** The key of the log handed over to another one: both have signed that (`spec/formats/checkpoints.md`). */
export const checkpointKeyRotated = defineChange('checkpoint.key-rotated', 56, {
  origin: field(originText, 'origin', 'of the last checkpoint'),
  generation: field(integer, 'generation', 'of the new key; the first key has 0'),
  oldKey: field(digest, 'old public key', 'Ed25519'),
  newKey: field(digest, 'new public key', 'Ed25519'),
  size: field(integer, 'size', 'of the last checkpoint'),
  root: field(digest, 'root', 'of the last checkpoint'),
  oldSignature: field(signature64, 'signature by the old key', 'of the text of the hand-over, see "Checkpoints"'),
  newSignature: field(signature64, 'signature by the new key', 'of the same text'),
})

/** A checkpoint is not shown to anybody until its receipts are there. */
export const checkpointWithheld = defineChange('checkpoint.withheld', 53, { size })

/** The receipts that the settings ask for are there: the checkpoint is shown from here on. */
export const checkpointPublished = defineChange('checkpoint.published', 54, { size })

/** This store cosigned a checkpoint of another log, as its witness: no smaller tree of that log will be cosigned. */
export const checkpointCosigned = defineChange('checkpoint.cosigned', 55, {
  origin: field(originText, 'origin', 'of the other log'),
  size: field(integer, 'size', 'of its tree'),
  root: field(digest, 'root', 'of its tree'),
  publicKey: field(digest, 'public key', 'of the log, with which the checkpoint was signed'),
  seconds: field(integer, 'time', 'of the cosignature, in seconds since 1970'),
})
