/** What the golden proof bundles state, and how bundles are signed for specs. */
import { hash } from 'node:crypto'
import { proofSigningSeed } from '../../../engine/keys/store-keys.ts'
import type { ProofAnchor, ProofBundle, ProofHistory, ProofObject } from '../../../engine/proof/bundle-types.ts'
import { ProofSigner } from '../../../engine/keys/proof-signer.ts'
import { treePath, treeRoot } from './audit-tree.ts'

const GOLDEN_MASTER_KEY = Buffer.alloc(32, 0x5a)
export const signer = new ProofSigner(proofSigningSeed(GOLDEN_MASTER_KEY))
/** Another deployment. */
export const stranger = new ProofSigner(proofSigningSeed(Buffer.alloc(32, 0xa5)))
export const GOLDEN_PUBLIC_KEY = signer.deployment.public_key

/** The file that the golden bundles are about. */
export const GOLDEN_FILE = Buffer.from('The bytes of the golden proof bundles.\n')
export const GOLDEN_DIGEST = hash('sha256', GOLDEN_FILE)

export const UNAVAILABLE: ProofHistory = {
  status: 'unavailable',
  reason: 'not_yet_checkpointed',
  detail: 'No checkpoint covers the version yet.',
}

export const GOLDEN_OBJECT: ProofObject = {
  bucket: 'golden',
  key: 'a/b c/ü-€-😀.txt',
  version_id: 'Zr3v0b9Qk1xkq0mYJ1nR2w',
  size: GOLDEN_FILE.length,
  content_type: 'text/plain; charset=utf-8',
  created_at: '2026-08-01T09:30:00.123456Z',
}

function recordHash(sequence: number): Buffer {
  return Buffer.from(hash('sha256', `record ${sequence}`), 'hex')
}

/**
 * A history whose checkpoint covers the records `from` to `to`, of which the named ones touched the version. Sequences
 * are whole numbers; the tree is over all of them.
 */
export function historyOf(
  from: number,
  to: number,
  touching: readonly number[],
  anchor?: ProofAnchor,
): Extract<ProofHistory, { status: 'present' }> {
  const hashes = Array.from({ length: to - from + 1 }, (_, index) => recordHash(from + index))
  return {
    status: 'present',
    records: touching.map((sequence, at) => ({
      sequence,
      timestamp: `2026-08-01T09:${30 + at}:00.000001Z`,
      operation: at === 0 ? 's3:PUT' : 's3:GET',
      principal: 'system:root',
      result: 'success',
      previous_hash: recordHash(sequence - 1).toString('hex'),
      record_hash: recordHash(sequence).toString('hex'),
      inclusion_path: { index: sequence - from, steps: treePath(hashes, sequence - from) },
    })),
    checkpoint: {
      sequence: 3,
      from_sequence: from,
      to_sequence: to,
      leaf_count: to - from + 1,
      root: treeRoot(hashes),
      previous_checkpoint_hash: hash('sha256', 'the checkpoint before'),
    },
    ...(anchor === undefined ? {} : { anchor }),
  }
}

export function signed(
  statement: { readonly object?: ProofObject; readonly sha256?: string; readonly history?: ProofHistory } = {},
  by: ProofSigner = signer,
): ProofBundle {
  const { object = GOLDEN_OBJECT, sha256 = GOLDEN_DIGEST, history = UNAVAILABLE } = statement
  return by.sign({ object, sha256, history })
}

/** The document of a bundle, without white space. */
export function bundleBytes(bundle: unknown): Buffer {
  return Buffer.from(JSON.stringify(bundle))
}
