/** Exports as a client gets them, complete or not. */
import { WireClient, type WireAnswer } from './wire-client.ts'

/** Asks for an export with the token, by GET unless told otherwise. */
export async function exportOf(
  endpoint: string,
  token: string,
  query: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<WireAnswer> {
  const wire = new WireClient({ endpoint, accessKey: '', secretKey: '' })
  const headers = [
    ['host', wire.host],
    ['authorization', `Bearer ${token}`],
  ] as const
  try {
    const target = `/api/v1/audit/export?${new URLSearchParams(query)}`
    return await wire.exchange(method, target, headers, Buffer.alloc(0))
  } finally {
    wire.close()
  }
}

/** The rows of a CSV (RFC 4180), fields unquoted. Throws when it is none. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const quoted = text[at] === '"'
    let field = ''
    if (quoted) {
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Error('a quoted field has no end')
        if (text[at] !== '"') field += text[at]
        else if (text[at + 1] === '"') {
          field += '"'
          at += 1
        } else break
      }
      at += 1
    } else {
      const end = /[",\r\n]/.exec(text.slice(at))
      if (end === null) throw new Error('the last row has no end')
      field = text.slice(at, at + end.index)
      at += end.index
    }
    row.push(field)
    if (text.startsWith('\r\n', at)) {
      rows.push(row)
      row = []
      at += 2
    } else if (text[at] === ',') at += 1
    else throw new Error(`${JSON.stringify(text.slice(at, at + 10))} behind a field`)
  }
  if (row.length > 0) throw new Error('the last row has no end')
  return rows
}
