/** An authority for time stamps made with openssl, and what somebody who trusts it says of a stamp. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CONFIG = `
[tsa]
default_tsa = own
[own]
dir = .
serial = ./serial
crypto_device = builtin
signer_cert = ./tsa.pem
certs = ./ca.pem
signer_key = ./tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1, millisecs:500
ordering = yes
tsa_name = no
ess_cert_id_chain = no
[extensions]
extendedKeyUsage = critical,timeStamping
`

export interface TimeStampAuthority {
  /** Answers a question of RFC 3161, signed. */
  answer(question: Uint8Array): Buffer
  /** What `openssl ts -verify` says of an answer over 32 bytes. */
  verify(answer: Uint8Array, root: Uint8Array): boolean
}

/** @param directory is made, and gets keys, certificates and questions */
export function timeStampAuthority(directory: string): TimeStampAuthority {
  mkdirSync(directory, { recursive: true })
  const file = (name: string) => join(directory, name)
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' })
  writeFileSync(file('tsa.cnf'), CONFIG)
  writeFileSync(file('serial'), '01\n')
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ed25519',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '3650',
    '-nodes',
    '-subj',
    '/CN=CA',
  )
  openssl('req', '-newkey', 'rsa:2048', '-keyout', 'tsa.key', '-out', 'tsa.csr', '-nodes', '-subj', '/CN=TSA')
  const signed = ['x509', '-req', '-in', 'tsa.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
  openssl(...signed, '-out', 'tsa.pem', '-days', '3650', '-extfile', 'tsa.cnf', '-extensions', 'extensions')
  let count = 0
  const save = (bytes: Uint8Array) => {
    const name = `${(count += 1)}.der`
    writeFileSync(file(name), bytes)
    return name
  }
  return {
    answer: (question) => openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', save(question)),
    verify(answer, root) {
      const digest = Buffer.from(root).toString('hex')
      try {
        openssl('ts', '-verify', '-digest', digest, '-in', save(answer), '-CAfile', 'ca.pem')
        return true
      } catch {
        return false
      }
    },
  }
}
