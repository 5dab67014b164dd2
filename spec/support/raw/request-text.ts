/** Requests as text, one byte a character. */

type Pair = readonly [name: string, value: string]

/** A request line, header lines and the blank line. @param lines as they are, or as names and values */
export function requestText(method: string, target: string, lines: readonly (string | Pair)[]): string {
  return headOf(`${method} ${target}`, lines)
}

/** A head with a Host line; `lines` go between it and the blank line. @param start method and target, or what is wrong */
export function head(start: string, ...lines: string[]): string {
  return headOf(start, ['Host: localhost', ...lines])
}

/** Head and body, with the length of the body where the method has one and no line says it. */
export function requestBytes(method: string, target: string, lines: readonly Pair[], body: string): string {
  const takesBody = body !== '' || method === 'PUT' || method === 'POST'
  const has = lines.some(([name]) => name === 'content-length' || name === 'transfer-encoding')
  const length: Pair[] = takesBody && !has ? [['content-length', String(Buffer.byteLength(body))]] : []
  return requestText(method, target, [...lines, ...length]) + Buffer.from(body).toString('latin1')
}

function headOf(start: string, lines: readonly (string | Pair)[]): string {
  const texts = lines.map((line) => (typeof line === 'string' ? line : `${line[0]}: ${line[1]}`))
  return `${[`${start} HTTP/1.1`, ...texts].join('\r\n')}\r\n\r\n`
}
