/**
 * Words that must not be in a file, each with what stands there instead. The patterns are spelled so that they do not
 * find themselves.
 */
import { codeLines, type Finding, isProduction, type ProjectFile } from './project-files.ts'

interface BannedWord {
  readonly pattern: RegExp
  /** Which files it is banned from. */
  readonly where: 'everywhere' | 'typescript' | 'production' | 'specs'
  /** Comments may say it. */
  readonly inCode?: boolean
  /** Files it is allowed in. */
  readonly except?: readonly string[]
  readonly instead: string
}

const BANNED_WORDS: readonly BannedWord[] = [
  {
    pattern: /\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b/,
    where: 'everywhere',
    instead: 'do it, or say in README.md that it is not there yet',
  },
  {
    pattern: /not implemented ye[t]/i,
    where: 'production',
    instead: 'a stub promises what it does not keep: answer NotImplemented by name, from the table',
  },
  {
    pattern: /@ts-(?:ignor[e]|nochec[k]|expect-erro[r])/,
    where: 'typescript',
    // They show that mistakes do not compile.
    except: ['spec/types/brands.spec.ts', 'spec/types/management-routes.spec.ts'],
    instead: 'give it the right type; a spec that needs a wrong one casts through unknown',
  },
  {
    pattern: /\bas an[y]\b|<an[y]>/,
    where: 'typescript',
    inCode: true,
    instead: 'use unknown and check it, or the real type',
  },
  {
    pattern: /\bas neve[r]\b/,
    where: 'production',
    inCode: true,
    instead: 'it silences every check of types: give it the real type',
  },
  {
    pattern: /\.(?:ski[p]|onl[y]|tod[o])\(|\b(?:ski[p]|tod[o]|onl[y]): *(?:true|['"])/,
    where: 'specs',
    inCode: true,
    instead: 'a spec runs or it is deleted; leave a client out by name where it is not installed',
  },
  {
    pattern: /process\.env\b|process\['env'\]|loadEnvFile/,
    where: 'production',
    inCode: true,
    except: ['cli/environment.ts'],
    instead: 'add a row to a table in cli/config/settings/; the environment is read in cli/environment.ts',
  },
  {
    pattern: /process\.argv\b/,
    where: 'production',
    inCode: true,
    except: ['cli/environment.ts', 'cli/main.ts'],
    instead: 'declare an option of the command in cli/commands/; the words come in through cli/main.ts',
  },
  {
    pattern: /\bDate\.now\b|\bnew Date\(\)/,
    where: 'production',
    inCode: true,
    // The Date header is HTTP's own and steers nothing.
    except: ['engine/clock.ts', 'planes/http/uws/uws-response.ts', 'planes/http/node/node-response.ts'],
    instead: 'take a clock of engine/clock.ts, so that specs can set it',
  },
  { pattern: /\bMath\.random\(/, where: 'production', inCode: true, instead: 'use node:crypto' },
  {
    pattern: /npm[j]s\.(?:org|com)|yarnpk[g]\.com|deb\.debia[n]\.org|pyp[i]\.org|pythonhoste[d]\.org|ghc[r]\.io/,
    where: 'everywhere',
    instead: 'registries are configuration of the machine: leave the host out',
  },
  {
    pattern: /(?:^|[\s'"`(=:])\/(?:wor[k]|hom[e]|roo[t]|User[s])\//,
    where: 'everywhere',
    instead: 'a path of one machine: make it relative, or ask for it in the configuration',
  },
  {
    pattern: /\bissue #?\d|\bfar[m]-[a-z]|sub-?agen[t]|\bcodin[g] agen[t]|\.\.\/share[d]\/|\bthis sessio[n]\b/i,
    where: 'everywhere',
    instead: 'the project speaks of itself and not of how it is made: give the reason, or a record in spec/decisions/',
  },
]

function isMeant(file: ProjectFile, { where, except }: BannedWord): boolean {
  const { path } = file
  if (except?.includes(path)) return false
  switch (where) {
    case 'everywhere':
      return true
    case 'typescript':
      return /\.tsx?$/.test(path)
    case 'production':
      return isProduction(path) && /\.tsx?$/.test(path)
    case 'specs':
      return path.startsWith('spec/') && path.endsWith('.ts')
  }
}

export function wordFindings(file: ProjectFile): Finding[] {
  return BANNED_WORDS.filter((row) => isMeant(file, row)).flatMap((row) => {
    const lines = row.inCode ? codeLines(file) : file.lines.map((text, index) => ({ line: index + 1, text }))
    return lines.flatMap(({ line, text }) => {
      const found = row.pattern.exec(text)?.[0].trim()
      return found === undefined ? [] : [{ path: file.path, line, message: `"${found}": ${row.instead}` }]
    })
  })
}
