/** The stores of `spec/prove/mutants`, which are broken for the proof `disk`, in worlds. */
import type { Edit, Expectation, WorldMutant } from './mutant.ts'

const EXPECTED: Readonly<Record<string, Expectation>> = {
  'does not sync the journal': { within: 3 },
  'does not sync small payloads': { within: 3 },
  'does not sync large payloads': { within: 6 },
  'does not sync names of segments': { within: 3 },
  'does not sync names of volumes': { within: 6 },
  'does not sync names of payload files': { within: 6 },
  'acknowledges before the sync': { within: 3 },
  'syncs payloads after the journal': {
    notWithin: 25,
    because: 'a power cut seldom comes between two syncs of one batch',
    inhabitants: 35,
  },
  'tries a failed sync again': { within: 18, inhabitants: 30 },
  'does not look at short writes': { within: 40 },
  'trims the journal on any error': { within: 3 },
  'lets projections run ahead of the journal': { within: 3 },
  'does not note that a batch was refused': { within: 40, inhabitants: 35 },
  'does not sync the note of a refused batch': {
    notWithin: 10,
    because:
      'a sync of the journal seldom fails for a batch that the next start finds whole; worlds of strikes at syncs alone do find it',
    inhabitants: 30,
  },
  'does not read the note of a refused batch': {
    notWithin: 16,
    because: 'a batch that was refused is seldom found whole by the next start',
  },
  'cuts off more than the refused batch': {
    notWithin: 16,
    because: 'a batch that was refused is seldom found whole by the next start',
  },
  'gives out damaged payloads': { within: 10 },
  'removes by age without asking the guard': { within: 15, inhabitants: 35 },
}

/** Worlds have their own tables in memory, past the one that a mutant of LMDB alters: it is put into the engine. */
const INSTEAD: Readonly<Record<string, readonly Edit[]>> = {
  'lets projections run ahead of the journal': [
    {
      file: 'engine/loop/engine',
      search: 'this.#journal.commit();',
      replacement: 'try { this.#journal.commit(); } catch (error) { done.failure = { error }; return done; }',
    },
    {
      file: 'engine/loop/engine',
      search: 'return result;',
      replacement: `if (result.failure !== undefined) throw result.failure.error;
            return result;`,
    },
  ],
}

export const OF_THE_DISK: readonly WorldMutant[] = Object.entries(EXPECTED).map(([name, expected]) => ({
  name,
  ...(name in INSTEAD ? { edits: INSTEAD[name] ?? [] } : { edits: [], breakage: name }),
  expected,
}))
