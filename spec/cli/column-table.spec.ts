/** Tables that are printed page by page: records of the audit log, storage events. */
import { test } from 'tap'
import { type Column, ColumnTable } from '../../cli/terminal/column-table.ts'

type Row = readonly [principal: string, operation: string, target: string]

const COLUMNS: readonly Column<Row>[] = [
  ['PRINCIPAL', 12, ([principal]) => principal],
  ['OPERATION', 9, ([, operation]) => operation],
  ['TARGET', 0, ([, , target]) => target],
]
const LONG = 'service_account:0123456789abcdef0123456789abcdef'
const SHORT: Row = ['anonymous', 's3:GET', 'photos/cat.jpg']

const piped = () => new ColumnTable(COLUMNS, {})
const onTerminal = () => new ColumnTable(COLUMNS, { isTTY: true })
/** Where the second column of each line begins. */
const places = (lines: readonly string[]) => lines.map((line) => line.search(/OPERATION|s3:/))

test('a long value shifts no other row of its page', async (t) => {
  const lines = piped().page([SHORT, [LONG, 's3:PUT', 'photos/dog.jpg'], SHORT])
  t.equal(lines.length, 4, 'the headings and three rows')
  t.same(places(lines), [50, 50, 50, 50])
  t.match(lines[2], LONG, 'what is piped is never shortened')
})

test('pages after a long value keep its width, and have no headings', async (t) => {
  const table = piped()
  t.same(places(table.page([SHORT])), [14, 14])
  t.same(places(table.page([[LONG, 's3:PUT', 'a']])), [50])
  t.same(places(table.page([SHORT])), [50])
})

test('an empty first page has the headings', async (t) => {
  const table = piped()
  t.same(table.page([]), ['PRINCIPAL     OPERATION  TARGET'])
  t.equal(table.page([SHORT]).length, 1)
})

test('a terminal gets an ellipsis in place of what is too long, but for the last column', async (t) => {
  const target = 'photos/'.padEnd(300, 'x')
  const lines = onTerminal().page([SHORT, [LONG, 's3:PUT', target]])
  t.same(places(lines), [42, 42, 42])
  t.equal(lines[2], `${LONG.slice(0, 39)}…  s3:PUT     ${target}`)
})

test('rows that come one by one', async (t) => {
  const [pipe, terminal] = [piped(), onTerminal()]
  t.equal(pipe.heading(), 'PRINCIPAL     OPERATION  TARGET')
  t.match(pipe.row([LONG, 's3:PUT', 'a']), `${LONG}  s3:PUT`, 'whole, and beside its column')
  t.same(places([pipe.row(SHORT)]), [14], 'the next one is not shifted')
  terminal.heading()
  t.equal(terminal.row([LONG, 's3:PUT', 'a']), 'service_acc…  s3:PUT     a')
})

test('control characters are spelled out before anything is measured', async (t) => {
  const lines = piped().page([['a\nb\u001b[31m', 's3:PUT', 'c\td']])
  t.equal(lines.length, 2)
  for (const raw of ['\n', '\t', '\u001b']) t.notOk(lines.join('').includes(raw))
  t.same(new Set(places(lines)).size, 1)
})
