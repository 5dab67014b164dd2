/**
 * The build of msgpackr without its native part, which keeps a table for all threads and empties it while a thread starts:
 * texts that another thread decodes at that moment are other texts (spec/decisions/0003-journal-entries.md).
 */
declare module 'msgpackr/index-no-eval' {
  export { Packr, Unpackr } from 'msgpackr'
}
