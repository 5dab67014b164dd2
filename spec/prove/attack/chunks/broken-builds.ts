/**
 * Builds of the S3 plane from which one check of bodies in chunks was taken out. The attack on them must find each: a case
 * that no broken build needs proves nothing.
 */
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Text of a compiled module, which must be there exactly once, and what stands in its place. */
type Change = readonly [file: string, from: string, to: string]

export interface BrokenBuild {
  /** What is not checked. */
  readonly name: string
  readonly changes: readonly Change[]
  /** Something else stands in the way of what would be let in: the request fails, but not as it must. */
  readonly onlyFails?: boolean
}

const READER = 'planes/s3/bodies/chunk-reader.js'
const TRAILER = 'planes/s3/bodies/chunk-trailer.js'
const UPLOAD = 'planes/s3/bodies/upload-body.js'
const BODY = 'planes/s3/bodies/chunked-body.js'
const CHECKS = 'planes/s3/bodies/body-checks.js'
const SUMS = 'planes/s3/request/checksums.js'
const HEADERS = 'planes/s3/unsupported-headers.js'
const AUTHENTICATE = 'planes/s3/identity/authenticate.js'
const SIGNATURES = 'planes/s3/signing/chunk-signatures.js'

export const BROKEN_BUILDS: readonly BrokenBuild[] = [
  { name: 'the signature of the request', changes: [[AUTHENTICATE, 'if (!matches)', 'if (false)']] },
  {
    name: 'that every header which steers is signed',
    changes: [[AUTHENTICATE, 'if (unsigned.length === 0)', 'if (true)']],
  },
  {
    name: 'signatures of chunks',
    changes: [[READER, 'if (signatures.isOfChunk(', 'if (true || signatures.isOfChunk(']],
  },
  {
    name: 'signatures of chunks in several pieces',
    changes: [
      [READER, 'this.#verify(this.#hash);', 'this.#rules.signatures.follow(this.#signature);'],
      [
        SIGNATURES,
        'isOfTrailer(digest, signature) {',
        'follow(given) { this.#previous = given; } isOfTrailer(digest, signature) {',
      ],
    ],
  },
  { name: 'the signature of the final chunk', changes: [[READER, "this.#verify('');", '']] },
  {
    name: 'that each chunk has a signature',
    changes: [
      [READER, ';chunk-signature=([0-9a-f]{64})\\r\\n$/', '(?:;chunk-signature=([0-9a-f]{64}))?\\r\\n$/'],
      [
        READER,
        'if (signatures === undefined)\n            return;',
        'if (signatures === undefined || this.#signature === "") return;',
      ],
    ],
  },
  {
    name: 'that a signature is as long as one',
    changes: [
      [READER, ';chunk-signature=([0-9a-f]{64})\\r\\n$/', ';chunk-signature=([0-9a-f]{0,64})\\r\\n$/'],
      [
        'planes/s3/signing/equal-hex.js',
        'if (!SIGNATURE_HEX.test(hex))\n        return false;',
        'if (hex.length < 64) return expected.startsWith(hex);',
      ],
    ],
  },
  {
    name: 'which request the chunks belong to',
    changes: [
      [
        UPLOAD,
        'payload.signatures : undefined',
        'Object.assign(payload.signatures, { isOfChunk: (_, given) => given !== "" }) : undefined',
      ],
    ],
  },
  {
    name: 'the order of chunks',
    changes: [
      [
        SIGNATURES,
        'this.#previous = this.#key.sign(text);\n',
        'if (equalsHex(this.#key.sign(text), signature)) { this.#previous = signature; return true; } return equalsHex(signature, signature);\n',
      ],
    ],
  },
  {
    name: 'that there is a final chunk',
    changes: [
      [READER, "if (this.#expected !== 'trailer')", 'if (false)'],
      [READER, "if (this.#held !== '\\r\\n')", 'if (false)'],
    ],
  },
  {
    name: 'what comes after the end',
    changes: [[READER, "if (this.#held !== '\\r\\n')", "if (!this.#held.startsWith('\\r\\n'))"]],
  },
  { name: 'more bytes than declared', changes: [[READER, 'if (size > decodedLength - this.#taken)', 'if (false)']] },
  {
    name: 'fewer bytes than declared',
    changes: [
      [READER, 'if (this.#taken < decodedLength)', 'if (false)'],
      [BODY, 'if (this.#filled !== this.#bytes.length)', 'if (false)'],
    ],
  },
  { name: 'the smallest size of a chunk', changes: [[READER, 'this.#size < CHUNK_BYTES_MINIMUM', 'false']] },
  { name: 'the line end after a chunk', changes: [[READER, 'if (piece[at] !== wanted)', 'if (false)']] },
  {
    name: 'what is in a head beside the size',
    changes: [[READER, '/^([0-9a-fA-F]{1,16})\\r\\n$/', '/^([0-9a-fA-F]{1,16})[^\\r]*\\r\\n$/']],
  },
  { name: 'the form of a size', changes: [[READER, '/^([0-9a-fA-F]{1,16})\\r\\n$/', '/^([^;\\r\\n]{1,16})\\r\\n$/']] },
  {
    name: 'the checksum after the body',
    changes: [[CHECKS, 'this.#checksum.digest().equals(declared.expected)', 'true']],
  },
  {
    name: 'that the checksum came',
    changes: [
      [
        TRAILER,
        'if (pair === undefined)\n        return malformed(',
        'if (pair === undefined)\n        return undefined; else if (false) malformed(',
      ],
      [UPLOAD, 'if (trailing !== undefined)', 'if (trailing !== undefined && text !== undefined)'],
      [CHECKS, 'if (declared !== undefined && ', 'if (declared === undefined || '],
    ],
  },
  {
    name: 'that the trailer is the declared one',
    changes: [
      [TRAILER, 'if (undeclared !== undefined)', 'if (false)'],
      [TRAILER, 'if (second !== undefined)', 'if (false)'],
    ],
  },
  { name: 'that the trailer comes once', changes: [[TRAILER, 'if (second !== undefined)', 'if (false)']] },
  {
    name: 'the signature of the trailer',
    changes: [[TRAILER, 'if (signatures.isOfTrailer(', 'if (true || signatures.isOfTrailer(']],
  },
  {
    name: 'that the trailer has a signature',
    changes: [
      [
        TRAILER,
        'if (signature === undefined)\n        return malformed(',
        'if (signature === undefined)\n        return value; else if (false) malformed(',
      ],
    ],
  },
  { name: 'that an unsigned trailer has none', changes: [[TRAILER, 'if (signature !== undefined)', 'if (false)']] },
  {
    name: 'that a form with a trailer names it',
    changes: [
      [
        UPLOAD,
        "if (names === undefined || names === '')",
        'if (names === undefined || names === "") return undefined; if (false)',
      ],
    ],
  },
  {
    name: 'that a form without a trailer names none',
    changes: [[UPLOAD, 'if (names === undefined)\n            return undefined;', 'return undefined;']],
  },
  { name: 'that there is one checksum', changes: [[SUMS, 'if (checksumHeader(request) !== undefined)', 'if (false)']] },
  { name: 'which algorithm is announced', changes: [[SUMS, 'if (announced === undefined || ', 'if (true || ']] },
  { name: 'the form of the decoded length', changes: [[UPLOAD, '!LENGTH.test(text)', 'false']] },
  {
    name: 'the limit of the decoded length',
    changes: [[CHECKS, 'if (length <= bodyBytesMaximum)', 'if (true)']],
    onlyFails: true,
  },
  { name: 'the MD5 of the payload', changes: [[CHECKS, "this.#md5.toString('hex') !== md5Hex", 'false']] },
  {
    name: 'whether unsigned chunks came by TLS',
    changes: [[UPLOAD, "if (http.secure || unsignedChunksOverHttp === 'true')", 'if (true)']],
  },
  {
    name: 'that a presigned URL has no chunks',
    changes: [
      [HEADERS, "if (!request.header('authorization'))", 'if (false)'],
      [UPLOAD, 'if (mode === undefined || payload.signatures === undefined)', 'if (false)'],
    ],
  },
  {
    name: 'which forms there are',
    changes: [
      [HEADERS, 'if (!CHUNK_MODES.has(payload))', 'if (false)'],
      [
        UPLOAD,
        'const mode = CHUNK_MODES.get(payload.mode);',
        'const mode = CHUNK_MODES.get(payload.mode) ?? { isSigned: true, hasTrailer: false };',
      ],
    ],
  },
  { name: 'chunks without a form', changes: [[HEADERS, 'if (mark === undefined)', 'if (true)']] },
]

/** Folders that the plane needs of a build. */
const FOLDERS = ['engine', 'planes', 'projections']

/** A copy of this build with a check taken out. @throws Error when the code is not what the change was made for */
export function breakBuild({ name, changes }: BrokenBuild): { readonly root: URL; remove(): void } {
  const build = fileURLToPath(new URL('../../../../', import.meta.url))
  const copy = mkdtempSync(join(build, 'broken-'))
  for (const folder of FOLDERS) linkTree(join(build, folder), join(copy, folder))
  for (const [file, from, to] of changes) {
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    if (text.split(from).length !== 2) throw new Error(`${name}: not once in ${file}: ${from}`)
    rmSync(path)
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
  }
  return { root: pathToFileURL(`${copy}/`), remove: () => rmSync(copy, { recursive: true }) }
}

function linkTree(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkTree(source, target)
    else if (entry.name.endsWith('.js')) linkSync(source, target)
  }
}
