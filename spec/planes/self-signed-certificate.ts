/** A self-signed certificate for localhost, made on the spot so that no private key is kept anywhere. */
import { generateKeyPairSync, sign } from 'node:crypto'

const OBJECT_IDENTIFIERS = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
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
  return `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`
}

/** Certificate and private key as PEM texts. */
export function selfSignedCertificate(): { certificate: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(identifier('ecdsaWithSha256'))
  const name = sequence(element(0x31, sequence(identifier('commonName'), element(0x0c, Buffer.from('localhost')))))
  const content = sequence(
    element(0xa0, element(0x02, [2])),
    element(0x02, [1]),
    algorithm,
    name,
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = sign('sha256', content, privateKey)
  return {
    certificate: pem('CERTIFICATE', sequence(content, algorithm, element(0x03, [0], signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
