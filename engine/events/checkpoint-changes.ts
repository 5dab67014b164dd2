import { originText, signature64 } from './names.ts'
import { defineChange } from './schema/change.ts'
import { digest, integer } from './schema/kinds.ts'
import { field } from './schema/record.ts'

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
