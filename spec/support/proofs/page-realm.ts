/**
 * A thread that runs the verifier of proof bundles in a realm of its own, whose globals are those of the language and the
 * two that every browser has for text. Modules are linked by hand, so that whatever they import is seen: a file, or an
 * error. Needs --experimental-vm-modules.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import * as vm from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'

interface Work {
  /** Path of the compiled module. */
  readonly verifier: string
  readonly bundles: readonly Uint8Array[]
  readonly publicKey: string
  readonly file: { readonly sha256: string; readonly size: number }
}

/** What the platform has behind its flag, as far as it is used here. */
interface SourceTextModule {
  readonly identifier: string
  readonly namespace: unknown
  link(linker: (specifier: string, from: SourceTextModule) => SourceTextModule): Promise<void>
  evaluate(): Promise<void>
}

const { SourceTextModule } = vm as unknown as {
  readonly SourceTextModule: new (
    source: string,
    options: { readonly identifier: string; readonly context: vm.Context },
  ) => SourceTextModule
}

const realm = vm.createContext({ TextEncoder, TextDecoder })
const modules = new Map<string, SourceTextModule>()

function moduleAt(path: string): SourceTextModule {
  const known = modules.get(path)
  if (known !== undefined) return known
  const made = new SourceTextModule(readFileSync(path, 'utf8'), { identifier: path, context: realm })
  modules.set(path, made)
  return made
}

function linked(specifier: string, { identifier }: SourceTextModule): SourceTextModule {
  if (specifier.startsWith('node:')) throw new Error(`${identifier} imports ${specifier}`)
  if (specifier.startsWith('.')) return moduleAt(resolve(dirname(identifier), specifier))
  return moduleAt(createRequire(identifier).resolve(specifier))
}

const { verifier, bundles, publicKey, file } = workerData as Work
const main = moduleAt(verifier)
await main.link(linked)
await main.evaluate()
const { verifyBundle } = main.namespace as typeof import('../../../engine/proof/verify-bundle.ts')
const verdicts: string[] = []
for (const bytes of bundles) {
  const { verdict } = await verifyBundle(bytes, { expectedPublicKey: publicKey, digestFile: async () => file })
  verdicts.push(verdict)
}
const globals = ['process', 'Buffer', 'require', 'global', 'setTimeout'].map((name) =>
  String(vm.runInContext(`typeof ${name}`, realm)),
)
parentPort?.postMessage({ verdicts, globals })
