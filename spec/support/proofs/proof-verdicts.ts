/** What the two verifiers of proof bundles say, in the same words. */
import { spawnSync } from 'node:child_process'
import type { ProofBundle } from '../../../engine/proof/bundle-types.ts'
import { canonicalBytes } from '../../../engine/proof/canonical.ts'
import { type ProofEvidence, verifyBundle } from '../../../engine/proof/verify-bundle.ts'
import { GOLDEN_DIGEST, GOLDEN_FILE, GOLDEN_PUBLIC_KEY } from './proof-statements.ts'

/** The verifier in Python, written from the page. */
export const STRANGER = 'spec/formats/verify_proof.py'

/** The file and the key of the golden bundles. */
export const EVIDENCE: ProofEvidence = {
  expectedPublicKey: GOLDEN_PUBLIC_KEY,
  digestFile: async () => ({ sha256: GOLDEN_DIGEST, size: GOLDEN_FILE.length }),
}

export interface Outcome {
  readonly verdict: string
  /** Status by the name of the check. */
  readonly checks: Readonly<Record<string, string>>
}

export async function outcomeOf(bytes: Uint8Array, evidence = EVIDENCE): Promise<Outcome> {
  const { verdict, checks } = await verifyBundle(bytes, evidence)
  return { verdict, checks: Object.fromEntries(checks.map(({ name, status }) => [name, status])) }
}

/** Whether two bundles have the same signed bytes and the same signature: then they are one. */
export function isSameProof(left: ProofBundle, right: ProofBundle): boolean {
  return (
    Buffer.compare(canonicalBytes(left), canonicalBytes(right)) === 0 &&
    JSON.stringify(left.signature) === JSON.stringify(right.signature)
  )
}

/** Has the verifier in Python judge many bundles in one go, each in base64 on a line of its input. */
const DRIVER = `
import base64, json, sys
sys.path.insert(0, "spec/formats")
import verify_proof
digest, size, key = sys.argv[1], int(sys.argv[2]), sys.argv[3]
for line in sys.stdin:
    verdict, checks = verify_proof.verify(base64.b64decode(line), digest, size, key)
    print(json.dumps({"verdict": verdict, "checks": checks}))
`

/** What the verifier in Python says of bundles, by the file and the key of the golden ones. */
export function askStranger(bundles: readonly Uint8Array[]): Outcome[] {
  const input = bundles.map((bytes) => `${Buffer.from(bytes).toString('base64')}\n`).join('')
  const words = ['-B', '-c', DRIVER, GOLDEN_DIGEST, String(GOLDEN_FILE.length), GOLDEN_PUBLIC_KEY]
  const { stdout, stderr } = spawnSync('python3', words, { encoding: 'utf8', input, maxBuffer: 2 ** 26 })
  if (stderr !== '') throw new Error(stderr)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome)
}
