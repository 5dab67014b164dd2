/**
 * The exit codes of the command `object-store`. Scripts and service managers act on them, so none is ever reused for
 * something else.
 */
export const exitTable = {
  ok: { code: 0, sentence: 'Success.' },
  failed: { code: 1, sentence: 'Failed; the message says why.' },
  usage: { code: 2, sentence: 'The command line or the configuration is wrong; nothing was done.' },
  partly: { code: 3, sentence: 'Only part of the work was done.' },
  notFound: { code: 4, sentence: 'The requested thing does not exist.' },
  denied: { code: 5, sentence: 'Access was denied.' },
  doctorFinding: { code: 7, sentence: 'The doctor or an inspection found something that needs attention.' },
  proofFailed: { code: 8, sentence: 'A check of a proof bundle failed.' },
  notProved: { code: 9, sentence: 'No check of a proof bundle failed, but a required check could not be made.' },
  unreachable: { code: 10, sentence: 'The server could not be reached.' },
  journalFailed: {
    code: 20,
    sentence:
      'Writing or syncing the journal, a volume or the projections failed, or the file system is read-only; nothing more was acknowledged.',
  },
  storeDamaged: { code: 21, sentence: 'The journal or a stored payload is damaged.' },
  directoryLocked: { code: 22, sentence: 'Another process has the data directory open.' },
  masterKey: {
    code: 23,
    sentence: 'The credential master key is missing, or belongs to another store.',
  },
  dataLost: { code: 24, sentence: 'Data that was acknowledged is no longer there.' },
  projectionsFailed: {
    code: 25,
    sentence: 'The projections are of a newer version, or could not be rebuilt or checked.',
  },
  diskFull: { code: 26, sentence: 'The disk is full.' },
  newerFormat: { code: 27, sentence: 'A newer version of the program wrote the journal or the backup.' },
  frontEndStuck: {
    code: 28,
    sentence: 'A front end did not answer any more, so the server ended to be started again; the log names it.',
  },
  storeUnreleased: {
    code: 29,
    sentence: 'A version before 1.0.0, which was never released, wrote the store or the backup.',
  },
  interrupted: { code: 130, sentence: 'Interrupted before it finished.' },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly sentence: string }>>

export type ExitName = keyof typeof exitTable

/** A failure with its own exit code. The message is for the operator. */
export class ExitError extends Error {
  override readonly name = 'ExitError'
  readonly exit: ExitName

  constructor(exit: ExitName, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exit = exit
  }

  /** The exit code the process ends with. */
  get exitCode(): number {
    return exitTable[this.exit].code
  }
}
