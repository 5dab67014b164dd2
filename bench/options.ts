import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Endpoint } from './endpoint.ts'

/** Parameters of a run. */
export interface Settings {
  readonly quick: boolean
  /** Names of the scenarios to run; undefined is all. */
  readonly only: readonly string[] | undefined
  /** Duration of each measurement. */
  readonly seconds: number
  /** Objects of the large store. */
  readonly objects: number
  /** Whether `objects` was asked for on the command line. */
  readonly objectsGiven: boolean
  /** A server that is already there, instead of one of our own. */
  readonly endpoint: Endpoint | undefined
  /** Process of that server, to read its memory and processor time. */
  readonly processId: number | undefined
  /** Where results go; undefined is bench/results for a full run and nowhere for a quick one. */
  readonly output: string | undefined
  /** Holds data directories and load files while the bench runs. */
  readonly directory: string
  /** `name=value` settings for our own server. */
  readonly serverSettings: readonly string[]
  /** Where our own server writes processor profiles. */
  readonly profileDirectory: string | undefined
  /** Bytes of each of the objects that are sent and fetched all at once. */
  readonly transferBytes: number
  /** How often a start is repeated. */
  readonly starts: number
  /** Turns of each side where two are compared. */
  readonly rounds: number
}

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const MEBIBYTE = 1024 ** 2
/** A tenth of the objects is the small store, which must have full pages to list. */
const OBJECTS_MINIMUM = 20_000

const OPTIONS = {
  help: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  seconds: { type: 'string' },
  objects: { type: 'string' },
  output: { type: 'string' },
  directory: { type: 'string' },
  set: { type: 'string', multiple: true, default: [] as string[] },
  'cpu-prof': { type: 'string' },
  endpoint: { type: 'string' },
  'access-key': { type: 'string' },
  'secret-key': { type: 'string' },
  region: { type: 'string', default: 'us-east-1' },
  pid: { type: 'string' },
} as const

export const USAGE = `npm run bench -- [options]

  --quick             one second a measurement, small stores: to see that it works
  --only A,B          these scenarios alone
  --seconds N         duration of each measurement (default 6; quick: 1)
  --objects N         objects of the large store (default 1,000,000; quick: 20,000)
  --output FILE       write FILE.json and FILE.md instead of bench/results/DATE-COMMIT.{json,md}
  --directory DIR     where data directories are made; its disk is what is measured (default ${tmpdir()})
  --set NAME=VALUE    a setting for the server, as often as needed
  --cpu-prof DIR      let the server write processor profiles there

  --endpoint URL --access-key KEY --secret-key KEY [--region NAME]
                      measure a server that is already running
  --pid N             the process of that server, for its memory and processor time
`

/**
 * Reads the command line of this process.
 * @param names of all scenarios
 * @returns undefined when help was asked for
 * @throws UsageError
 */
export function readSettings(names: readonly string[]): Settings | undefined {
  const given = parsed()
  if (given.help) return undefined
  const only = given.only?.split(',').filter((name) => name !== '')
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new UsageError(`there is no scenario ${unknown}; there are: ${names.join(', ')}`)
  const { quick } = given
  return {
    quick,
    only,
    seconds: wholeNumber('--seconds', given.seconds, 600) ?? (quick ? 1 : 6),
    objects: wholeNumber('--objects', given.objects, 100_000_000, OBJECTS_MINIMUM) ?? (quick ? 20_000 : 1_000_000),
    objectsGiven: given.objects !== undefined,
    endpoint: endpointOf(given),
    processId: wholeNumber('--pid', given.pid, 2 ** 31 - 1),
    output: given.output === undefined ? undefined : resolve(given.output),
    directory: resolve(given.directory ?? tmpdir()),
    serverSettings: given.set,
    profileDirectory: given['cpu-prof'] === undefined ? undefined : resolve(given['cpu-prof']),
    transferBytes: quick ? 64 * MEBIBYTE : 1024 * MEBIBYTE,
    starts: quick ? 1 : 3,
    rounds: quick ? 1 : 5,
  }
}

function parsed() {
  try {
    return parseArgs({ options: OPTIONS, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function wholeNumber(name: string, text: string | undefined, maximum: number, minimum = 1): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,12}$/.test(text) ? Number(text) : 0
  if (value < minimum || value > maximum) {
    throw new UsageError(`${name} takes a whole number from ${minimum} to ${maximum}`)
  }
  return value
}

function endpointOf(given: ReturnType<typeof parsed>): Endpoint | undefined {
  const { endpoint, 'access-key': accessKey, 'secret-key': secretKey, region } = given
  if (endpoint === undefined) {
    if (accessKey ?? secretKey ?? given.pid)
      throw new UsageError('--access-key, --secret-key and --pid go with --endpoint')
    return undefined
  }
  if (accessKey === undefined || secretKey === undefined) {
    throw new UsageError('--endpoint goes with --access-key and --secret-key')
  }
  if (!/^https?:\/\/[^/?#@\s]+\/?$/.test(endpoint)) {
    throw new UsageError('--endpoint takes a scheme, a host and a port, such as http://127.0.0.1:9000')
  }
  if (given.set.length > 0 || given['cpu-prof'] !== undefined) {
    throw new UsageError('--set and --cpu-prof are for a server that the bench starts itself')
  }
  return { url: endpoint.replace(/\/$/, ''), accessKey, secretKey, region }
}
