/**
 * Writing XML by concatenation. A listing of 1,000 keys is the hottest document of the service, and a generic builder
 * takes four times as long as this.
 */

export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** The namespace of every success document; error documents carry none. */
const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

const NAMED_REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const ESCAPED = /[&<>"'\u0000-\u001f\ufffe\uffff]/
const ESCAPED_ALL = new RegExp(ESCAPED, 'g')

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN_ALL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/**
 * Escapes text for XML. Carriage returns become numeric references, because a parser would turn them into line feeds
 * and return another key. XML 1.0 has no form for most other control characters; like S3, this writes references for
 * them too, and clients avoid the problem with `encoding-type=url`.
 */
export function escapeXml(text: string): string {
  if (!ESCAPED.test(text)) return text
  return text.replace(ESCAPED_ALL, (character) => NAMED_REFERENCES[character] ?? `&#${character.charCodeAt(0)};`)
}

/**
 * Like escapeXml, for explanatory text: characters that XML 1.0 cannot carry become U+FFFD, so that every client can
 * parse the error document.
 */
export function escapeXmlLossy(text: string): string {
  return escapeXml(text.replace(FORBIDDEN_ALL, '\ufffd'))
}

/** `<name>text</name>` with the text escaped. */
export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${typeof text === 'string' ? escapeXml(text) : text}</${name}>`
}

/** A success document: declaration, root with the S3 namespace, and the given inner XML. */
export function successDocument(root: string, inner: string): string {
  return `${XML_DECLARATION}<${root} xmlns="${S3_NAMESPACE}">${inner}</${root}>`
}
