/**
 * The AWS SDK for Java 2 with its defaults: the client, the one without waiting, the transfer manager and the presigner, over
 * HTTP and over TLS, in `strict`, where the settings that the refusal names help, and in `compatible`. It needs Maven and a JDK;
 * the version is that of java/pom.xml.
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { temporaryDirectory } from '../support/test-server.ts'
import { startAll, type Target } from './both-servers.ts'
import { run, surroundings } from './client-programs.ts'
import { SOURCES } from './client-tools.ts'
import { roundTrips } from './round-trips.ts'

const PASSWORD = 'changeit'
const place = temporaryDirectory()
const directory = join(place, 'java')
cpSync(join(SOURCES, 'java'), directory, { recursive: true })
mkdirSync(join(directory, 'classes'))

async function must(program: string, words: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run(program, words, { environment: surroundings(), directory })
  if (code !== 0)
    throw new Error(`${program} ${words.join(' ')}: ${String(stdout).slice(-2000)} ${stderr.slice(-2000)}`)
}

await must('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'])
await must('javac', ['-cp', 'lib/*', '-d', 'classes', join('src', 'main', 'java', 'example', 'RoundTrips.java')])
const all = await startAll()

/** What makes Java trust the authority of a server. */
async function trustStore({ authority, extended }: Target): Promise<string[]> {
  if (authority === undefined) return []
  const file = join(directory, `trust-${extended}.p12`)
  const words = [
    '-importcert',
    '-noprompt',
    '-alias',
    'ca',
    '-file',
    authority,
    '-keystore',
    file,
    '-storepass',
    PASSWORD,
  ]
  await must('keytool', words)
  return [`-Djavax.net.ssl.trustStore=${file}`, `-Djavax.net.ssl.trustStorePassword=${PASSWORD}`]
}

test('the AWS SDK for Java', async (t) => {
  await Promise.all(
    all.targets.map(async (target) => {
      const trust = await trustStore(target)
      const start = (words: readonly string[]) =>
        run('java', [...trust, '-cp', 'lib/*:classes', 'example.RoundTrips', ...words], { directory })
      await roundTrips(t, 'java-sdk', target, start)
    }),
  )
})

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
