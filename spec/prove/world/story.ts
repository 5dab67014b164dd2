/** What happened in a world, in sentences. */

type Verb = (place: string, query: URLSearchParams) => string

const BUCKET_VERBS: Readonly<Record<string, Verb>> = {
  GET: (bucket, query) =>
    query.has('versions')
      ? `lists the versions of ${bucket}`
      : query.has('uploads')
        ? `lists the uploads of ${bucket}`
        : `lists or reads what ${bucket} is set to`,
  HEAD: (bucket) => `asks for ${bucket}`,
  PUT: (bucket, query) =>
    query.size === 0 ? `makes the bucket ${bucket}` : `sets ${[...query.keys()][0]} of ${bucket}`,
  POST: (bucket) => `deletes several keys of ${bucket}`,
  DELETE: (bucket, query) =>
    query.size === 0 ? `deletes the bucket ${bucket}` : `removes ${[...query.keys()][0]} of ${bucket}`,
}

const KEY_VERBS: Readonly<Record<string, Verb>> = {
  GET: (key, query) => (query.has('uploadId') ? `lists the parts of an upload of ${key}` : `reads ${key}`),
  HEAD: (key) => `asks for the head of ${key}`,
  PUT: (key, query) => {
    if (query.has('partNumber')) return `sends part ${query.get('partNumber')} of an upload of ${key}`
    const setting = ['retention', 'legal-hold', 'renameObject'].find((name) => query.has(name))
    return setting === undefined ? `writes ${key}` : `sets ${setting} of ${key}`
  },
  POST: (key, query) => (query.has('uploads') ? `starts an upload of ${key}` : `completes an upload of ${key}`),
  DELETE: (key, query) => {
    if (query.has('uploadId')) return `gives up an upload of ${key}`
    return query.has('versionId') ? `deletes a version of ${key}` : `deletes ${key}`
  },
}

const REQUEST = /^(GET|HEAD|PUT|POST|DELETE) (\S+)(.*): ([^:]*)$/s
const TOGETHER = ' and at once '
const MANAGEMENT = '/api/'

/**
 * The log of a model as sentences, one after the other; reads that said what they had to are left out.
 * @param log lines of a model: requests with their answers, and what else was done
 */
export function storyOf(log: readonly string[]): string[] {
  return log
    .flatMap((line) => {
      if (!line.includes(TOGETHER)) return isPlainRead(line) ? [] : sentenceOf(line)
      return `At once: ${line.split(TOGETHER).map(sentenceOf).join(' ')}`
    })
    .map((sentence, index) => `${index + 1}. ${sentence}`)
}

function isPlainRead(line: string): boolean {
  return /^(?:GET|HEAD) .*: 200 $/s.test(line)
}

function sentenceOf(line: string): string {
  const [, method = '', target = '', rest = '', answer = ''] = REQUEST.exec(line) ?? []
  if (method === '') return `${line.charAt(0).toUpperCase()}${line.slice(1)}.`
  return `A client ${phraseOf(method, target, rest)}: ${answer.trim()}.`
}

function phraseOf(method: string, target: string, rest: string): string {
  if (target.startsWith(MANAGEMENT)) return `asks the management plane for ${method} ${target}${rest}`
  const { pathname, searchParams } = new URL(target, 'http://world')
  const [, bucket = '', ...key] = pathname.split('/')
  if (bucket === '') return 'lists the buckets'
  const place = key.length === 0 ? bucket : `${bucket}/${key.join('/')}`
  const source = / x-amz-copy-source=(\S+)/.exec(rest)?.[1]
  if (source !== undefined) return `copies ${source} to ${place}`
  const size = /\((\d+) bytes\)$/.exec(rest)?.[1]
  const phrase = (key.length === 0 ? BUCKET_VERBS : KEY_VERBS)[method]?.(place, searchParams) ?? `${method} ${target}`
  return size === undefined ? phrase : `${phrase} with ${size} bytes`
}
