/** Self-signed certificates, made on the spot so that no private key is kept anywhere. */
import { generateKeyPairSync, sign } from 'node:crypto'

const OBJECT_IDENTIFIERS = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  sha256WithRsa: [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b],
  commonName: [0x55, 0x04, 0x03],
  subjectAltName: [0x55, 0x1d, 0x11],
}

/** One DER element (X.690): tag, length, content. */
function element(tag: number, ...contents: (Buffer | number[])[]): Buffer {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part)))
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]): Buffer => element(0x30, ...parts)
const identifier = (name: keyof typeof OBJECT_IDENTIFIERS): Buffer => element(0x06, OBJECT_IDENTIFIERS[name])
const time = (text: string): Buffer => element(0x18, Buffer.from(text))

function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`
}

/** Certificate and private key as PEM texts. */
export interface CertificateAndKey {
  readonly certificate: string
  readonly key: string
}

export interface CertificateOptions {
  /** Name of the subject, and with 127.0.0.1 what the certificate is for. */
  readonly name?: string
  /** The last second of its validity, as YYYYMMDDhhmmss. */
  readonly until?: string
  /** Of the key; `rsa` for one of 2,048 bits without a curve. */
  readonly curve?: 'P-256' | 'secp256k1' | 'rsa'
}

function keyPair(curve: NonNullable<CertificateOptions['curve']>) {
  if (curve === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ec', { namedCurve: curve })
}

export function selfSignedCertificate(options: CertificateOptions = {}): CertificateAndKey {
  const { name = 'localhost', until = '21200101000000', curve = 'P-256' } = options
  const { publicKey, privateKey } = keyPair(curve)
  const isRsa = curve === 'rsa'
  const algorithm = isRsa
    ? sequence(identifier('sha256WithRsa'), element(0x05))
    : sequence(identifier('ecdsaWithSha256'))
  const subject = sequence(element(0x31, sequence(identifier('commonName'), element(0x0c, Buffer.from(name)))))
  const names = sequence(element(0x82, Buffer.from(name)), element(0x87, [127, 0, 0, 1]))
  const extensions = sequence(sequence(identifier('subjectAltName'), element(0x04, names)))
  const content = sequence(
    element(0xa0, element(0x02, [2])),
    element(0x02, [1]),
    algorithm,
    subject,
    sequence(time('20200101000000Z'), time(`${until}Z`)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, extensions),
  )
  const signature = sign('sha256', content, privateKey)
  return {
    certificate: pem('CERTIFICATE', sequence(content, algorithm, element(0x03, [0], signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
