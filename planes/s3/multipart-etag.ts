import { hash } from 'node:crypto'

const MD5_BYTES = 16

/** MD5 of the parts' MD5s, and how many there are (S3 user guide, Checking object integrity). */
export function multipartEtag(md5s: Uint8Array): string {
  return `${hash('md5', md5s, 'hex')}-${md5s.length / MD5_BYTES}`
}
