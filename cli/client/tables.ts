/** How answers of the management plane become rows for a terminal. */

type Row = readonly string[]
type Json = Readonly<Record<string, unknown>>

/** One value for the eyes: nothing for null, objects as JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** An object as rows of name and value. */
export function fields(answer: Json | undefined): Row[] {
  return Object.entries(answer ?? {}).map(([name, value]) => [name, textOf(value)])
}

/** A list in a member of the answer, with the named columns under a heading. */
export function list(member: string, columns: readonly string[]): (answer: Json) => Row[] {
  return (answer) => {
    const rows = (answer[member] ?? []) as readonly Json[]
    const heading = columns.map((column) => column.toUpperCase())
    return [heading, ...rows.map((row) => columns.map((column) => textOf(row[column])))]
  }
}

/** For answers without a body. */
export function done(text: string): () => Row[] {
  return () => [[text]]
}
