/** Runs the commands of a checkout and records what they print and how they end. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Names } from '../names.ts'
import { journalRecords, moreRecords } from '../quiet.ts'
import type { Exchange } from '../recording.ts'
import { type Output, runCommand, type Server, startServer, SYSTEM_TOKEN } from '../server.ts'
import { HELP, OFFLINE, ONLINE, WRONG_USAGE } from './command-lists.ts'

const FILES: Readonly<Record<string, string>> = {
  'file.txt': 'bytes of a file',
  'empty.json': '{}',
  'policy.json': '[{"effect":"allow","actions":["s3:GetObject"],"resources":["bucket:commands/*"]}]',
  'good.toml': '[limits]\nqueue_wait_seconds = 7\n',
  'bad.toml': '[limits\n',
  'unknown.toml': '[limits]\nunknown = 1\n',
}

/** Values that a later command takes from what an earlier one printed. */
const TAKEN: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['version', /"version_id":"([\w-]{22})"/],
  ['account', /\b(sa-[a-z2-7]{20})\b/],
  ['credential', /\b(cred-[a-z2-7]{20})\b/],
  ['policy', /\b(pol-[a-z2-7]{20})\b/],
  ['token', /\b(tok-[a-z2-7]{20})\b/],
  ['public-key', /"public_key": ?"([0-9a-f]{64})"/],
]

/** Where texts show what the server made up. */
const PRINTED: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['version', /^version_id +([\w-]{22})$/gm],
  ['secret', /^secret_key +([a-z2-7]{40})$/gm],
  ['deployment', /\bdeployment +([0-9a-f]{32})\b/g],
]

/** What differs between two runs beside what names know. */
const MASKS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/"(previous_hash|record_hash|hash|head_hash|master_key_check|content_digest|start)":"[0-9a-f]+"/g, '"$1":"<$1>"'],
  [/"(mark)":\{[^}]*\}/g, '"$1":{}'],
  [/(?<=^sha256 manifest\.json +)[0-9a-f]{64}/gm, '<digest>'],
  [/(?<=^head +\d+:|; it has )[0-9a-f]{64}/gm, '<hash>'],
  [/\b[\d,]+ records\/s/g, '<speed>'],
  [/\bin \d+ batches/g, 'in some batches'],
  [/\b\d+(?:\.\d+)? (?:B|KiB|MiB|GiB|TiB)\b/g, '<bytes>'],
  [/\b\d+(?:\.\d+)? (?:ms|s|seconds|milliseconds)\b/g, '<duration>'],
  [
    /"(capacity_bytes|available_bytes|milliseconds|seconds|bytes_per_second|pid|length|examined|batches|bytes)":[\d.]+/g,
    '"$1":#',
  ],
]

type Environment = Readonly<Record<string, string>>

class CommandRecorder {
  readonly #checkout: string
  readonly #names: Names
  readonly #home: string
  readonly #taken = new Map<string, string>()
  readonly exchanges: Exchange[] = []

  constructor(checkout: string, server: Server) {
    this.#checkout = checkout
    this.#names = new Names(server.s3Port, server.apiPort)
    this.#home = dirname(server.dataDirectory)
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(this.#home, name), text)
  }

  /** Runs commands that know nothing of one another, two at a time. */
  async runAll(block: string, lines: readonly string[], environment: Environment): Promise<void> {
    for (let index = 0; index < lines.length; index += 2) {
      const pair = lines.slice(index, index + 2).map((line) => this.#wordsOf(line))
      const outputs = await Promise.all(pair.map((words) => this.#start(words, environment)))
      outputs.forEach((output, place) => this.#keep(block, pair[place] ?? [], output))
    }
  }

  async run(block: string, line: string, environment: Environment): Promise<number | null> {
    const words = this.#wordsOf(line)
    const output = await this.#start(words, environment)
    this.#keep(block, words, output)
    return output.code
  }

  #wordsOf(line: string): string[] {
    return line
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => word.replace(/\{([\w-]+)\}/, (whole, name: string) => this.#taken.get(name) ?? whole))
      .map((word) => word.replaceAll('\u00a0', ' '))
  }

  #start(words: readonly string[], environment: Environment): Promise<Output> {
    return runCommand(this.#checkout, words, environment, this.#home)
  }

  #keep(block: string, words: readonly string[], { code, stdout, stderr }: Output): void {
    this.#names.learn(`${stdout}\n${stderr}`)
    for (const [kind, pattern] of PRINTED) {
      for (const [, value = ''] of stdout.matchAll(pattern)) this.#names.name(kind, value)
    }
    for (const [name, pattern] of TAKEN) {
      const value = pattern.exec(stdout)?.[1]
      if (value !== undefined && !this.#taken.has(name)) this.#taken.set(name, value)
    }
    const ask = ['object-store', ...words].map((text) => this.#shown(text)).join(' ')
    const [body, errors] = [this.#shown(stdout), this.#shown(stderr)]
    this.exchanges.push({ block, ask, status: `exit ${code}`, head: [], body, records: errors === '' ? [] : [errors] })
  }

  #shown(text: string): string {
    // A table is as wide as the name of a directory: then blanks are not compared.
    const narrow = text.includes(this.#home) ? text.replaceAll(/ {2,}/g, '  ') : text
    let result = this.#names.canonical(narrow.replaceAll(this.#home, '<home>').replaceAll(this.#checkout, '<checkout>'))
    for (const [pattern, name] of MASKS) result = result.replace(pattern, name)
    return result
  }
}

export async function recordCommands(checkout: string, say: (line: string) => void): Promise<Exchange[]> {
  const server = await startServer(checkout)
  const recorder = new CommandRecorder(checkout, server)
  const { environment, apiPort } = server
  const client = { OBJECT_STORE_URL: `http://127.0.0.1:${apiPort}`, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
  const bare = { PATH: environment['PATH'] ?? '' }
  try {
    await recorder.runAll('help', HELP, bare)
    say(`help: ${recorder.exchanges.length} commands`)
    await recorder.runAll('wrong-usage', WRONG_USAGE, bare)
    say(`wrong usage: ${recorder.exchanges.length} commands`)
    for (const line of ONLINE) {
      const before = await journalRecords(apiPort)
      const code = await recorder.run('online', line, { ...environment, ...client })
      if (code === 0 && !/^(?:status|proof verify|server|journal|projections)/.test(line))
        await moreRecords(apiPort, before)
    }
    say(`against a server: ${recorder.exchanges.length} commands`)
  } finally {
    await server.stop()
  }
  for (const line of OFFLINE) await recorder.run('offline', line, { ...environment, ...client })
  server.remove()
  return recorder.exchanges
}
