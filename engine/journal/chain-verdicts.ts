import { type Milliseconds, millisecondsOf } from '../brands.ts'
import { CheckedNote } from '../disk/checked-note.ts'
import type { Disk } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { boundedText } from '../events/bounded-text.ts'

/** Where the chain is damaged. A start that the damage ends knows the place only in words. */
export interface VerdictProblem {
  readonly sequence: number | undefined
  readonly segment: string | undefined
  readonly offset: number | undefined
  /** Which kind of damage, as in `spec/formats/journal.md`, section "Verdicts". */
  readonly verdict: string
  readonly detail: string
}

/** What one verification of the chain found. */
export interface ChainVerdict {
  /** First sequence that was read; 0: the whole chain. */
  readonly from: number
  /** Last sequence that was read; undefined when nothing could be read. */
  readonly through: number | undefined
  /** Hash of that record, in hexadecimal. */
  readonly headHash: string | undefined
  readonly atMilliseconds: Milliseconds
  /** A principal, or an account of the host. */
  readonly by: string
  readonly program: 'journal verify' | 'audit chain' | 'server start'
  /** The first problem; undefined: all of it is intact. */
  readonly problem: VerdictProblem | undefined
}

/** The verdicts that are kept. */
export interface KeptVerdicts {
  /**
   * The last one on the whole chain. Damage anywhere takes its place at once, and stays until the whole chain was
   * verified again: a sound part says nothing about another part.
   */
  readonly whole: ChainVerdict | undefined
  /** The last one on a part that was intact, since then: a start reads the newest segment. */
  readonly part: ChainVerdict | undefined
}

/** The kept verdicts, or why they are ignored. */
export type ReadVerdicts = KeptVerdicts & { readonly ignored: string | undefined }

const NONE: KeptVerdicts = { whole: undefined, part: undefined }

const TEXT_BYTES_MAXIMUM = 1000
const OTHER = 'it is about another journal'

/** What is kept after another verdict. */
export function withVerdict(kept: KeptVerdicts, verdict: ChainVerdict): KeptVerdicts {
  if (verdict.from === 0 || verdict.problem !== undefined) return { whole: verdict, part: undefined }
  return { ...kept, part: verdict }
}

/**
 * The last verdicts on the chain, in the file `verified` of the data directory (spec/formats/journal.md). They are about
 * the files of this directory and not about the store, so neither the journal nor a backup has them.
 */
export class ChainVerdicts {
  readonly #note: CheckedNote
  /** In hexadecimal; undefined where the journal cannot be read. */
  readonly #deploymentId: string | undefined

  constructor(disk: Disk, paths: StorePaths, deploymentId: string | undefined) {
    this.#note = new CheckedNote(disk, paths.root, paths.verified)
    this.#deploymentId = deploymentId
  }

  /** @param head the last sequence of the journal: a verdict about later records is of another one */
  read(head = Number.POSITIVE_INFINITY): ReadVerdicts {
    const found = this.#read()
    if (typeof found === 'string') return { ...NONE, ignored: found }
    const isOther = [found.whole, found.part].some((one) => (one?.through ?? 0) > head)
    return isOther ? { ...NONE, ignored: OTHER } : { ...found, ignored: undefined }
  }

  /**
   * Keeps a verdict, durably. After a crash the file has it or the verdicts before.
   * @param head as for `read`
   * @throws the errors of the disk
   */
  keep(verdict: ChainVerdict, head?: number): void {
    const { whole, part } = withVerdict(this.read(head), verdict)
    const text = JSON.stringify({
      deployment_id: this.#deploymentId ?? null,
      whole: whole === undefined ? null : verdictJson(whole),
      part: part === undefined ? null : verdictJson(part),
    })
    this.#note.write(text)
  }

  #read(): KeptVerdicts | string {
    const found = this.#note.read()
    if ('ignored' in found) return found.ignored
    if (found.text === undefined) return NONE
    try {
      const { deployment_id: id, whole, part } = JSON.parse(found.text) as FileJson
      if (id !== null && this.#deploymentId !== undefined && id !== this.#deploymentId) return OTHER
      return { whole: verdictOf(whole), part: verdictOf(part) }
    } catch {
      // Its checksum is right: a program with another form of it wrote it.
      return 'its form is unknown'
    }
  }
}

interface FileJson {
  readonly deployment_id: string | null
  readonly whole: VerdictJson | null
  readonly part: VerdictJson | null
}

type VerdictJson = ReturnType<typeof verdictJson>

function verdictJson({ from, through, headHash, atMilliseconds, by, program, problem }: ChainVerdict) {
  return {
    from,
    through: through ?? null,
    head_hash: headHash ?? null,
    at: atMilliseconds as number,
    by: boundedText(by, TEXT_BYTES_MAXIMUM),
    program,
    problem:
      problem === undefined
        ? null
        : {
            sequence: problem.sequence ?? null,
            segment: problem.segment ?? null,
            offset: problem.offset ?? null,
            verdict: boundedText(problem.verdict, TEXT_BYTES_MAXIMUM),
            detail: boundedText(problem.detail, TEXT_BYTES_MAXIMUM),
          },
  }
}

function verdictOf(json: VerdictJson | null): ChainVerdict | undefined {
  if (json === null) return undefined
  const { from, through, head_hash: headHash, at, by, program, problem } = json
  if (![from, through ?? 0, at].every(Number.isSafeInteger)) throw new TypeError('no whole number')
  return {
    from,
    through: through ?? undefined,
    headHash: headHash ?? undefined,
    atMilliseconds: millisecondsOf(at),
    by,
    program,
    problem: problem === null ? undefined : problemOf(problem),
  }
}

function problemOf({
  sequence,
  segment,
  offset,
  verdict,
  detail,
}: NonNullable<VerdictJson['problem']>): VerdictProblem {
  return {
    sequence: sequence ?? undefined,
    segment: segment ?? undefined,
    offset: offset ?? undefined,
    verdict,
    detail,
  }
}
