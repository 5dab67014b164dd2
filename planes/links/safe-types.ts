/**
 * Types in which no browser runs scripts. Other types, such as pages, scripts, styles, SVG and PDF, are sent as bytes
 * and as an attachment (S20).
 */
const SAFE_TYPES: ReadonlySet<string> = new Set([
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'audio/x-wav',
  'image/apng',
  'image/avif',
  'image/bmp',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/x-icon',
  'text/plain',
  'video/mp4',
  'video/mpeg',
  'video/ogg',
  'video/quicktime',
  'video/webm',
])

const BYTES = 'application/octet-stream'
const CHARSET = /;\s*charset\s*=\s*"?(utf-8|us-ascii|iso-8859-1|windows-1252)"?\s*(?:;|$)/i

/** The content type to send, and whether a browser may show the object. */
interface SentType {
  readonly type: string
  readonly isSafe: boolean
}

/** How an object with a stored type is sent. Of its parameters only the charset is kept. */
export function sentType(stored: string | undefined): SentType {
  const name = (stored ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (!SAFE_TYPES.has(name)) return { type: BYTES, isSafe: false }
  if (name !== 'text/plain') return { type: name, isSafe: true }
  const charset = CHARSET.exec(stored ?? '')?.[1]?.toLowerCase() ?? 'utf-8'
  return { type: `text/plain; charset=${charset}`, isSafe: true }
}
