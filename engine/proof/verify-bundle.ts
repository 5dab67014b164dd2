/**
 * Verifies a proof bundle (specification, "Verification procedure"; spec/formats/proof-bundle.md). Imports nothing that
 * only Node.js has, so that the command line and a page in a browser run the same code; the file is hashed by the caller.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { ProofBundle } from './bundle-types.ts'
import { canonicalBytes } from './canonical.ts'
import { isSigned } from './ed25519.ts'
import { checkHistory } from './history-checks.ts'
import { parseBundle } from './parse-bundle.ts'
import {
  type CheckName,
  type CheckResult,
  failed,
  notProved,
  passed,
  type ProofReport,
  proofReport,
} from './proof-report.ts'

/** Largest bundle that is read; a record with its path takes about 7 KiB at most. */
export const BUNDLE_BYTES_MAXIMUM = 16 * 1024 ** 2

const KEY_ID_BYTES = 8

/** A public key as a person gives it. */
export const PUBLIC_KEY_FORM = /^[0-9a-f]{64}$/i

/** A whole file, read once from its beginning to its end. */
export interface FileDigest {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** Bytes. */
  readonly size: number
}

/** Evidence to compare a bundle with. */
export interface ProofEvidence {
  /** Hashes the file; called at most once, and only for a bundle that can be read. Without it: not proved. */
  readonly digestFile?: () => Promise<FileDigest>
  /** Public key of the deployment in hexadecimal, from elsewhere than the bundle. Without it: not proved. */
  readonly expectedPublicKey?: string
}

/**
 * Performs every check that it can. Throws only what `digestFile` throws, whatever is in the bundle.
 * @param bytes the bundle as it is in its file
 */
export async function verifyBundle(bytes: Uint8Array, evidence: ProofEvidence): Promise<ProofReport> {
  const results = new Map<CheckName, CheckResult>()
  const parsed = bytes.length > BUNDLE_BYTES_MAXIMUM ? tooLarge() : parseBundle(bytes)
  if (parsed.kind === 'malformed') {
    results.set('format', failed(`This is not a proof bundle: ${parsed.reason}.`))
    return proofReport(results, undefined, 'The bundle could not be read.')
  }
  if (parsed.kind === 'newer') {
    const known = 'This verifier knows the format versions 1 and 2, the latter over the encoding 2'
    const newer = `${known}; the bundle has ${parsed.formatVersion}.`
    results.set('format', passed('The format is that of proof bundles.'))
    results.set('format version', notProved(newer))
    return proofReport(results, undefined, 'Not verifiable: the format version is newer than this verifier.')
  }
  const { bundle } = parsed
  results.set('format', passed('The format is that of proof bundles, and no member is unknown or missing.'))
  results.set('format version', passed(`The format version is ${bundle.format_version}.`))
  results.set('signature', checkSignature(bundle))
  results.set('key id', checkKeyId(bundle))
  results.set('deployment identity', checkIdentity(bundle, evidence.expectedPublicKey))
  const file = await evidence.digestFile?.()
  results.set('payload', checkPayload(bundle, file))
  results.set('size', checkSize(bundle, file))
  for (const [name, result] of Object.entries(checkHistory(bundle))) results.set(name as CheckName, result)
  return proofReport(results, bundle, 'It was not performed.')
}

function tooLarge(): { readonly kind: 'malformed'; readonly reason: string } {
  return { kind: 'malformed', reason: `it is longer than the ${BUNDLE_BYTES_MAXIMUM} bytes that one may have` }
}

function checkSignature(bundle: ProofBundle): CheckResult {
  const { canonical_version, value } = bundle.signature
  if (canonical_version > bundle.format_version) {
    return notProved(`Not verifiable: the signature is over an encoding of version ${canonical_version}.`)
  }
  if (canonical_version < bundle.format_version) return failed(`There is no encoding of version ${canonical_version}.`)
  return isSigned(hexToBytes(value), canonicalBytes(bundle), hexToBytes(bundle.deployment.public_key))
    ? passed('Everything in the bundle is signed by the key that it names.')
    : failed('The signature is not one of the key that the bundle names, or something in the bundle was changed.')
}

function checkKeyId({ deployment }: ProofBundle): CheckResult {
  return deployment.key_id === keyIdOf(hexToBytes(deployment.public_key))
    ? passed('The id of the key is that of the key.')
    : failed('The id of the key belongs to another key.')
}

/** First 8 bytes of the SHA-256 of a public key, in hexadecimal. */
export function keyIdOf(publicKey: Uint8Array): string {
  return bytesToHex(sha256(publicKey).subarray(0, KEY_ID_BYTES))
}

function checkIdentity({ deployment }: ProofBundle, expected: string | undefined): CheckResult {
  if (expected === undefined) {
    return notProved('The deployment is not established: no public key to expect was given, and anybody can sign.')
  }
  return expected.toLowerCase() === deployment.public_key
    ? passed('The key is the one that was expected.')
    : failed('The key is another one than was expected.')
}

function checkPayload({ payload }: ProofBundle, file: FileDigest | undefined): CheckResult {
  if (file === undefined) return notProved('No file was given.')
  return file.sha256 === payload.sha256
    ? passed('The file has the SHA-256 that was recorded when the object was written.')
    : failed(`The SHA-256 of the file is ${file.sha256}, and of the object it was ${payload.sha256}.`)
}

function checkSize({ object }: ProofBundle, file: FileDigest | undefined): CheckResult {
  if (file === undefined) return notProved('No file was given.')
  return file.size === object.size
    ? passed(`The file has the size of the object: ${file.size} bytes.`)
    : failed(`The file has ${file.size} bytes, and the object had ${object.size}.`)
}
