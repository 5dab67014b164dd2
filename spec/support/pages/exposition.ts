/**
 * A strict reader of the text exposition format of Prometheus, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/), and of the rules for names
 * (https://prometheus.io/docs/practices/naming/). It shares nothing with the renderer.
 */

interface Sample {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

interface ExposedMetric {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly Sample[]
}

const NAME = /^(?:object_store|process|nodejs)(?:_[a-z0-9]+)+$/
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/
const TYPES = ['counter', 'gauge', 'histogram']
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/
const PAIR = /(?<label>[^=,{}"]+)="(?<text>(?:[^"\\\n]|\\[\\"n])*)"(?<end>,|$)/y
/** Units that are not base units. */
const OTHER_UNITS =
  /_(?:ms|milliseconds|us|microseconds|nanoseconds|minutes|hours|kb|kib|mib|gib|kilobytes|megabytes|bits|percent)(?:_|$)/

/**
 * The metrics in the order of the text.
 * @throws Error naming the first line that breaks a rule
 */
export function parseExposition(text: string): ExposedMetric[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const metrics: (ExposedMetric & { readonly samples: Sample[] })[] = []
  const lines = text.slice(0, -1).split('\n')
  let help: readonly [name: string, text: string] | undefined
  for (const line of lines) {
    const fail = (problem: string): never => {
      throw new Error(`${problem}: ${line}`)
    }
    const comment = /^# (?<kind>HELP|TYPE) (?<name>\S+) (?<rest>.+)$/.exec(line)?.groups
    if (comment?.['kind'] === 'HELP') {
      if (help !== undefined) fail('two HELP lines in a row')
      if (/\\(?![\\n])/.test(comment['rest'] ?? '')) fail('a wrong escape')
      help = [comment['name'] ?? '', comment['rest'] ?? '']
    } else if (comment !== undefined) {
      const { name = '', rest: type = '' } = comment
      if (help?.[0] !== name) fail('TYPE without its HELP before it')
      if (!TYPES.includes(type)) fail('unknown type')
      if (metrics.some((metric) => metric.name === name)) fail('the metric occurs twice')
      metrics.push({ name, type, help: help?.[1] ?? '', samples: [] })
      help = undefined
    } else {
      const metric = metrics.at(-1)
      if (help !== undefined || metric === undefined) return fail('a sample without a TYPE line before it')
      metric.samples.push(sampleOf(line, metric, fail))
    }
  }
  if (help !== undefined) throw new Error('HELP without TYPE at the end')
  for (const metric of metrics) requireRules(metric)
  return metrics
}

function sampleOf(line: string, { name, type }: ExposedMetric, fail: (problem: string) => never): Sample {
  const groups = /^(?<name>[^\s{]+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/.exec(line)?.groups
  if (groups === undefined) return fail('not a sample')
  const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name]
  if (!names.includes(groups['name'] ?? '')) fail('a sample of another metric')
  if (!NUMBER.test(groups['value'] ?? '')) fail('not a number')
  const value = Number(groups['value']?.replace('Inf', 'Infinity'))
  return { name: groups['name'] ?? '', labels: labelsOf(groups['labels'], fail), value }
}

function labelsOf(text: string | undefined, fail: (problem: string) => never): Map<string, string> {
  const labels = new Map<string, string>()
  if (text === undefined) return labels
  PAIR.lastIndex = 0
  do {
    const pair = PAIR.exec(text)?.groups
    if (pair === undefined) return fail('not a list of labels')
    const { label = '', text: value = '' } = pair
    if (!LABEL.test(label)) fail('not a name of a label')
    if (labels.has(label)) fail('a label occurs twice')
    labels.set(label, value)
    if (pair['end'] === '') return labels
  } while (PAIR.lastIndex < text.length)
  return fail('a comma after the last label')
}

/** The key of a series. */
function seriesOf({ name, labels }: Sample): string {
  return JSON.stringify([name, [...labels].toSorted()])
}

function requireRules({ name, type, samples }: ExposedMetric): void {
  const require = (holds: boolean, rule: string): void => {
    if (!holds) throw new Error(`${name}: ${rule}`)
  }
  require(NAME.test(name), 'not a name by the rules')
  require(samples.length > 0, 'no samples')
  require((type === 'counter') === name.endsWith('_total'), 'counters end in _total, and nothing else does')
  require(!/_(?:bucket|sum|count|counter|gauge|histogram)$/.test(name), 'ends like a part of a metric, or like a type')
  require(!OTHER_UNITS.test(name), 'not a base unit')
  require(!/_(?:seconds|bytes)_(?!total$)/.test(name), 'the unit is at the end')
  require(new Set(samples.map(seriesOf)).size === samples.length, 'a series occurs twice')
  const labels = new Set(samples.map((sample) => [...sample.labels.keys()].filter((label) => label !== 'le').join()))
  require(labels.size === 1, 'the samples have different labels')
  require(!name.endsWith('_info') || samples.every(({ value }) => value === 1), 'information is always 1')
  if (type !== 'gauge') require(samples.every(({ value }) => value >= 0 && value < Infinity), 'counts are 0 or more')
  if (type === 'histogram') requireHistogram(name, samples, require)
}

function requireHistogram(
  name: string,
  samples: readonly Sample[],
  require: (holds: boolean, rule: string) => void,
): void {
  const series = new Map<string, Sample[]>()
  for (const sample of samples) {
    const key = JSON.stringify([...sample.labels].filter(([label]) => label !== 'le').toSorted())
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const parts of series.values()) {
    const buckets = parts.filter((part) => part.name === `${name}_bucket`)
    const [sum, count] = ['_sum', '_count'].map((suffix) => parts.find((part) => part.name === name + suffix))
    const bounds = buckets.map(({ labels }) => Number((labels.get('le') ?? 'NaN').replace('+Inf', 'Infinity')))
    require(bounds.every((bound, index) => bound > (bounds[index - 1] ?? -Infinity)), 'the bounds of buckets ascend')
    require(bounds.at(-1) === Infinity, 'the last bucket is +Inf')
    require(buckets.every(
      ({ value }, at) => value >= (buckets[at - 1]?.value ?? 0),
    ), 'buckets count what is before them')
    require(sum !== undefined && count !== undefined, 'a histogram has a sum and a count')
    require(buckets.at(-1)?.value === count?.value, 'the last bucket is the count')
  }
}
