/** The S3 data plane. */
import { EXTENSIONS, PROFILES, UNSIGNED_CHUNKS } from '../../../planes/objects/s3-extensions.ts'
import type { ConfigRow } from '../config-row.ts'

export const s3Settings = [
  {
    name: 's3.bind',
    kind: 'address',
    default: '127.0.0.1:7600',
    flag: '--s3-bind',
    sentence: 'Address the S3 data plane listens on; port 0 takes any free port.',
  },
  {
    name: 's3.profile',
    kind: 'choice',
    choices: PROFILES,
    default: 'strict',
    sentence:
      'What s3.extensions, s3.unsigned_chunks_over_http and s3.hostnames are where they are not set: strict serves the specified S3 alone, compatible what S3 clients send by default.',
  },
  {
    name: 's3.hostnames',
    kind: 'host names',
    bounds: { minimum: 1, maximum: 64 },
    sentence:
      'Host names under which clients reach the S3 data plane, for example that of a proxy; IP addresses and localhost always work. With * in it: any name, except names below the others. Without it: the name of the machine and the names in the certificate.',
  },
  {
    name: 's3.extensions',
    kind: 'choices',
    choices: EXTENSIONS,
    default: [],
    sentence: 'Optional parts of S3 to serve; requests for the others are refused.',
  },
  {
    name: 's3.public_read_prefixes',
    kind: 'prefixes of keys',
    bounds: { minimum: 0, maximum: 100 },
    default: [],
    sentence:
      'Which keys policies of buckets may open to requests without a credential, with the extension bucket-policy: BUCKET/PREFIX, for GET and HEAD of objects alone. None by default: then no policy opens anything.',
  },
  {
    name: 's3.unsigned_chunks_over_http',
    kind: 'choice',
    choices: UNSIGNED_CHUNKS,
    default: 'false',
    sentence:
      'Whether the extension aws-chunked accepts unsigned chunks with a trailing checksum over plain HTTP too, where anybody on the path could change both; private: from loopback and private addresses.',
  },
  {
    name: 's3.tls_certificate_file',
    kind: 'path',
    sentence:
      'PEM file with the certificate of the S3 data plane, followed by its chain; setting it turns TLS on. SIGHUP reloads it.',
  },
  {
    name: 's3.tls_key_file',
    kind: 'path',
    sentence: 'PEM file with the private key of that certificate, without a passphrase.',
  },
  {
    name: 's3.front_ends',
    kind: 'integer',
    unit: 'threads',
    bounds: { minimum: 0, maximum: 64 },
    default: 0,
    sentence: 'Threads that serve S3 requests; 0 means one less than there are processor cores, but at least one.',
  },
] as const satisfies readonly ConfigRow[]
