/**
 * Reads and checks the certificate and the private key of a listener.
 *
 * uWebSockets.js reads the files by itself and reports every fault in them as a failed construction. So they are
 * checked here first, with messages that name the fault and the file.
 */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** PEM files of a listener that speaks TLS. */
export interface TlsFiles {
  /** The listener's certificate, then the intermediate certificates up to a root that clients trust. */
  readonly certificateFile: string
  /** Its private key, without a passphrase. */
  readonly keyFile: string
}

/** Content of the two files. */
export interface TlsPair {
  /** The listener's certificate. */
  readonly certificate: X509Certificate
  /** Digest of both files, to notice changes. */
  readonly digest: string
  /** Content of the files. */
  readonly certificateText: string
  readonly keyText: string
}

/** The files cannot be used. The message names the file; nothing of the key is in it. */
export class TlsFilesError extends Error {
  override readonly name = 'TlsFilesError'
}

const BEGIN_CERTIFICATE = '-----BEGIN CERTIFICATE-----'
/** Headers of encrypted keys: PKCS #8 (RFC 7468 section 11) and the older form (RFC 1421 section 4.6.1.1). */
const ENCRYPTED_KEY = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m

/**
 * Reads both files and checks every certificate, the key, and that the key belongs to the first certificate.
 * @throws TlsFilesError naming the file at fault
 */
export function readTlsPair({ certificateFile, keyFile }: TlsFiles): TlsPair {
  const certificateText = textOf(certificateFile)
  const keyText = textOf(keyFile)
  const certificate = firstCertificate(certificateFile, certificateText)
  if (!certificate.checkPrivateKey(privateKey(keyFile, keyText))) {
    throw new TlsFilesError(`${keyFile}: the key is not that of the first certificate in ${certificateFile}`)
  }
  const digest = createHash('sha256').update(certificateText).update('\0').update(keyText).digest('hex')
  return { certificate, digest, certificateText, keyText }
}

/** The error for a valid pair that the driver refuses. */
export function unusablePair({ certificateFile, keyFile }: TlsFiles, cause?: unknown): TlsFilesError {
  const message = `${certificateFile} and ${keyFile}: the TLS library cannot use a certificate or key of this kind`
  return new TlsFilesError(message, { cause })
}

function textOf(file: string): string {
  return attempt(file, 'the file cannot be read', () => readFileSync(file, 'latin1'))
}

function firstCertificate(file: string, text: string): X509Certificate {
  const blocks = text.split(BEGIN_CERTIFICATE).slice(1)
  const [first] = blocks.map((block, index) => {
    const which = `certificate ${index + 1} of ${blocks.length} cannot be used`
    return attempt(file, which, () => new X509Certificate(BEGIN_CERTIFICATE + block))
  })
  if (first === undefined) throw new TlsFilesError(`${file}: there is no certificate in the PEM form in it`)
  return first
}

function privateKey(file: string, text: string): KeyObject {
  if (ENCRYPTED_KEY.test(text)) {
    throw new TlsFilesError(`${file}: the private key has a passphrase, which nobody could type at a start`)
  }
  return attempt(file, 'the private key cannot be used', () => createPrivateKey(text))
}

function attempt<T>(file: string, failure: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new TlsFilesError(`${file}: ${failure}: ${(error as Error).message}`, { cause: error })
  }
}
