/** What blocks of the S3 plane have in common. */
import type { S3Ask } from '../asking.ts'
import type { Answer, Talk } from '../talk.ts'

export async function makeBucket(talk: Talk, name = talk.bucket, lock = false): Promise<Answer> {
  const headers = lock ? ['x-amz-bucket-object-lock-enabled: true'] : []
  return talk.s3('PUT', `/${name}`, { headers })
}

export function setVersioning(talk: Talk, status: string, bucket = talk.bucket): Promise<Answer> {
  return talk.s3('PUT', `/${bucket}?versioning`, { body: versioning(status) })
}

export function versioning(status: string): string {
  return `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>${status}</Status></VersioningConfiguration>`
}

/** Sends the same request once for each of the headers lines. */
export async function eachHeader(
  talk: Talk,
  method: string,
  target: string,
  headers: readonly string[],
  ask: S3Ask = {},
): Promise<void> {
  for (const header of headers) {
    await talk.s3(method, target, { ...ask, headers: [...(ask.headers ?? []), ...header.split('\n')] })
  }
}

/** Sends the same request once for each of the queries. */
export async function eachQuery(
  talk: Talk,
  method: string,
  path: string,
  queries: readonly string[],
  ask: S3Ask = {},
): Promise<void> {
  for (const query of queries) await talk.s3(method, `${path}?${query}`, ask)
}

/** Sends the same request once for each of the bodies. */
export async function eachBody(
  talk: Talk,
  method: string,
  target: string,
  bodies: readonly (string | Buffer)[],
  ask: S3Ask = {},
): Promise<void> {
  for (const body of bodies) await talk.s3(method, target, { ...ask, body })
}

/** Ways to spoil any document, around a good one. */
export function spoiledDocuments(good: string): (string | Buffer)[] {
  const name = /<(\w+)/.exec(good)?.[1] ?? ''
  return [
    '',
    ' ',
    'no document',
    '{}',
    '<',
    '<a',
    '<a/>',
    '<a></b>',
    `<${name}/>`,
    `<${name}>`,
    `<${name}></${name}x>`,
    `<${name}><Unknown>1</Unknown></${name}>`,
    `<${name}>text</${name}>`,
    `<?xml version="1.0" encoding="UTF-8"?>\n${good}`,
    `<?xml version="1.0"?>${good}\n\n`,
    `<?xml version="1.1"?>${good}`,
    `<?xml version="1.0" encoding="ISO-8859-1"?>${good}`,
    `\ufeff${good}`,
    `  ${good}`,
    `${good}<a/>`,
    `${good}${good}`,
    `<!-- words -->${good}`,
    `<!DOCTYPE ${name} [<!ENTITY x "y">]>${good}`,
    good.replace('</', '&x;</'),
    good.replace('</', '&#0;</'),
    good.replace('</', '&#x110000;</'),
    good.replace('</', '<![CDATA[x]]></'),
    good.replace('</', '<?pi x?></'),
    good.replace('>', ' a="1" a="2">'),
    good.replace('>', ' a=1>'),
    good.replace('>', ' a="<">'),
    good.replace('>', ' xmlns="urn:other">'),
    good.replaceAll(/<(\/?)(\w)/g, '<$1s3:$2'),
    good.toLowerCase(),
    good.slice(0, -1),
    good.replaceAll('><', '>\n  <'),
    good.replaceAll('><', '>words<'),
    Buffer.concat([Buffer.from(good), Buffer.from([0xff, 0xfe])]),
    Buffer.from(good, 'utf16le'),
    `<${name}>${'<a>'.repeat(200)}${'</a>'.repeat(200)}</${name}>`,
  ]
}

/** Any text that is no number, too small or too large, for parameters that are numbers. */
export const ODD_NUMBERS: readonly string[] = [
  '',
  '0',
  '1',
  '2',
  '1000',
  '1001',
  '10000',
  '99999999999',
  '-1',
  '+1',
  '01',
  '1.5',
  '1e3',
  '0x10',
  'one',
  '%20',
  '1%20',
  '%31',
  '%00',
  '%C3%A4',
]
