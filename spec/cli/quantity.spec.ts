/** Durations, sizes and rates as people write them, in settings and in options. */
import { test } from 'tap'
import { readDuration, readRate, readSize, readWhole } from '../../cli/values/quantity.ts'

type Case = readonly [text: string, value: number]

test('durations', async (t) => {
  const taken: readonly Case[] = [
    ['0s', 0],
    ['90s', 90],
    ['30m', 1800],
    ['12h', 43_200],
    ['1h30m', 5400],
    ['1w2d3h4m5s', 788_645],
    ['7d', 604_800],
    ['999999999s', 999_999_999],
  ]
  for (const [text, value] of taken) t.same(readDuration(text), { value }, text)
  const refused = [
    '',
    '1',
    'h',
    '30m1h',
    '1h1h',
    '1.5h',
    '-1h',
    '1 h',
    '1H',
    '1M',
    '1y',
    '1ms',
    '1h ',
    '1234567890s',
    '1e3s',
  ]
  for (const text of refused) t.match(readDuration(text), { problem: /is not a duration such as 90s, 30m/ }, text)
})

test('sizes are exact, and never guessed', async (t) => {
  const taken: readonly Case[] = [
    ['0B', 0],
    ['512B', 512],
    ['64KiB', 65_536],
    ['64Ki', 65_536],
    ['10GiB', 10 * 1024 ** 3],
    ['10gib', 10 * 1024 ** 3],
    ['10 GiB', 10 * 1024 ** 3],
    ['10GB', 10_000_000_000],
    ['10kB', 10_000],
    ['1.5GiB', 1_610_612_736],
    ['1.1GB', 1_100_000_000],
    ['2TiB', 2 * 1024 ** 4],
    ['1PB', 1e15],
  ]
  for (const [text, value] of taken) t.same(readSize(text), { value }, text)
  const refused: readonly (readonly [text: string, problem: RegExp])[] = [
    ['10G', /"10G" can mean 10GiB \(of 1024\) and 10GB \(of 1000\): write one of them/],
    ['1.5 k', /can mean 1\.5KiB .* and 1\.5KB/],
    ['1.1GiB', /"1\.1GiB" is not a whole number of bytes/],
    ['9PiB', /is too large/],
    ['999999999999999PB', /is too large/],
    ...[
      '',
      '10',
      'GiB',
      '10XB',
      '10GiBs',
      '-1GiB',
      '1e3MiB',
      '1,5GiB',
      '10  GiB',
      '.5GiB',
      '10GiB/s',
      'x'.repeat(99),
    ].map((text) => [text, /is not a size such as 64KiB/] as const),
  ]
  for (const [text, problem] of refused) t.match(readSize(text), { problem }, text)
  t.same(readRate('16MiB/s'), { value: 16 * 1024 ** 2 })
  t.same(readRate('16MB'), { value: 16_000_000 })
  t.match(readRate('16G/s'), { problem: /"16G\/s" can mean 16GiB/ })
  t.match(readRate('16MiB/h'), { problem: /is not a size/ })
})

test('whole numbers of a unit', async (t) => {
  const taken: readonly [text: string, unit: string | undefined, value: number][] = [
    ['7', undefined, 7],
    ['7', 'threads', 7],
    ['-1', 'seconds', -1],
    ['90', 'minutes', 90],
    ['2h', 'minutes', 120],
    ['1d12h', 'hours', 36],
    ['2w', 'days', 14],
    ['64KiB', 'bytes', 65_536],
    ['1GiB', 'MiB', 1024],
    ['1MiB/s', 'KiB/s', 1024],
    ['1GiB/s', 'MiB/s', 1024],
    ['64KiB/s', 'bytes/s', 65_536],
  ]
  for (const [text, unit, value] of taken) t.same(readWhole(text, unit), { value }, `${text} of ${unit}`)
  const refused: readonly [text: string, unit: string | undefined, problem: RegExp][] = [
    ['7s', 'threads', /^"7s" is not a whole number$/],
    ['7h', undefined, /^"7h" is not a whole number$/],
    ['90s', 'minutes', /^"90s" is not a whole number of minutes$/],
    ['10MB', 'MiB', /^"10MB" is not a whole number of MiB$/],
    ['5x', 'seconds', /is not a duration such as .*, nor a whole number of seconds$/],
    ['10G', 'bytes', /can mean 10GiB .*: write one of them$/],
    ['1.00001KiB', 'bytes', /^"1\.00001KiB" is not a whole number of bytes$/],
    ['10GiB', 'seconds', /is not a duration/],
    ['1h', 'MiB', /is not a size/],
    ['07', 'seconds', /"07" is not a duration/],
    ['1.5', 'bytes', /"1\.5" is not a size/],
  ]
  for (const [text, unit, problem] of refused) t.match(readWhole(text, unit), { problem }, `${text} of ${unit}`)
})
