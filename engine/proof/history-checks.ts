/** The checks of a bundle's history: specification, "Verification procedure", step 6. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { base64Bytes } from './base64.ts'
import {
  HISTORY_REASONS,
  type ProofCheckpoint,
  type ProofHistory,
  type ProofRecord,
  type UnsignedBundle,
} from './bundle-types.ts'
import { leafHash, pathSides, rootOfPath } from './merkle.ts'
import { type CheckName, type CheckResult, failed, notProved, passed } from './proof-report.ts'
import { proofMicroseconds } from './proof-time.ts'
import { readStoredRecord } from './stored-record.ts'

type HistoryCheck = Extract<CheckName, 'checkpoint' | 'inclusion' | 'records' | 'links' | 'anchor'>
type PresentHistory = Extract<ProofHistory, { status: 'present' }>

export function checkHistory({
  history,
  format_version: version,
}: UnsignedBundle): Readonly<Record<HistoryCheck, CheckResult>> {
  if (history.status === 'unavailable') {
    const none = notProved(`The bundle has no history of the version: ${HISTORY_REASONS[history.reason]}.`)
    return { checkpoint: none, inclusion: none, records: none, links: none, anchor: none }
  }
  return {
    checkpoint: checkCheckpoint(history.checkpoint),
    inclusion: checkInclusion(history, version === 1 ? ` ${NOT_BOUND}` : ''),
    records: checkRecords(history.records),
    links: checkLinks(history.records),
    anchor: checkAnchor(history),
  }
}

function checkCheckpoint({ from_sequence, to_sequence, leaf_count }: ProofCheckpoint): CheckResult {
  if (leaf_count === 0) return failed('The checkpoint covers no record.')
  // The sum may pass 2^53, where numbers are not exact any more.
  if (BigInt(leaf_count) !== BigInt(to_sequence) - BigInt(from_sequence) + 1n) {
    return failed(`A checkpoint of the records ${from_sequence} to ${to_sequence} has not ${leaf_count} leaves.`)
  }
  return passed(`The checkpoint covers the ${leaf_count} records ${from_sequence} to ${to_sequence}.`)
}

/** Of format version 1 (decision 0027). */
const NOT_BOUND =
  'It proves their hashes: operation, principal, result and time are what the server signed, and are not bound to the hashes.'

/** @param limit a sentence on what it does not prove */
function checkInclusion({ records, checkpoint }: PresentHistory, limit: string): CheckResult {
  if (records.length === 0) return notProved('The history holds no record.')
  for (const record of records) {
    const fault = inclusionFault(record, checkpoint)
    if (fault !== undefined) {
      return failed(`The record ${record.sequence} is not in the tree of the checkpoint: ${fault}.`)
    }
  }
  return passed(`${count(records.length, 'record is', 'records are')} in the tree of the checkpoint.${limit}`)
}

/** For format version 2: the bundle's fields of each record must match the bytes under its hash. */
function checkRecords(records: readonly ProofRecord[]): CheckResult {
  if (records.length === 0) return notProved('The history holds no record.')
  for (const record of records) {
    const fault = recordFault(record)
    if (fault !== undefined) return failed(`The record ${record.sequence} is not what the bundle says of it: ${fault}.`)
  }
  return passed(
    `Operation, principal, result and time of ${count(records.length, 'record', 'records')} are in its bytes.`,
  )
}

function recordFault(stated: ProofRecord): string | undefined {
  const stored = readStoredRecord(base64Bytes(stated.record ?? ''))
  if (stored === undefined) return 'its bytes are not those of a record about a request'
  if (stored.hash !== stated.record_hash) return 'its bytes have another hash'
  const differing = [
    ['sequence', stored.sequence === BigInt(stated.sequence)],
    ['timestamp', stored.time === proofMicroseconds(stated.timestamp)],
    ['operation', stored.operation === stated.operation],
    ['principal', stored.principal === stated.principal],
    ['result', stored.result === stated.result],
    ['previous_hash', stored.previousHash === stated.previous_hash],
  ].flatMap(([name, isSame]) => (isSame === true ? [] : [name]))
  return differing.length === 0 ? undefined : `its bytes have another ${differing.join(', ')}`
}

/** Why a record is not in a tree, if so. */
function inclusionFault(
  { sequence, record_hash, inclusion_path }: ProofRecord,
  { from_sequence, leaf_count, root }: ProofCheckpoint,
): string | undefined {
  const { index, steps } = inclusion_path
  if (index !== sequence - from_sequence) {
    return `its index is ${index}, and a tree from record ${from_sequence} on has it at another place`
  }
  if (index >= leaf_count) return `its index is ${index}, and the tree has ${leaf_count} leaves`
  const needed = pathSides(index, leaf_count).length
  if (steps.length !== needed) return `its path has ${count(steps.length, 'step', 'steps')}, and needs ${needed}`
  const found = rootOfPath(leafHash(hexToBytes(record_hash)), index, leaf_count, steps)
  if (found === undefined) return 'the sides of its path are not those of its index'
  return bytesToHex(found) === root ? undefined : 'its path leads to another root than the one of the checkpoint'
}

/** A bundle holds only the records of one version, so most have no neighbour to link to. */
function checkLinks(records: readonly ProofRecord[]): CheckResult {
  const ordered = records.toSorted((left, right) => left.sequence - right.sequence)
  let links = 0
  for (const [index, later] of ordered.entries()) {
    const earlier = ordered[index - 1]
    if (earlier?.sequence === later.sequence) return failed(`The record ${later.sequence} is there twice.`)
    if (earlier?.sequence !== later.sequence - 1) continue
    links += 1
    if (later.previous_hash !== earlier.record_hash) {
      return failed(`The record ${later.sequence} does not link to the record before it.`)
    }
  }
  if (links === 0) return notProved('No two records have adjacent sequences, so there is no link to look at.')
  return passed(`${count(links, 'link', 'links')} between adjacent records ${links === 1 ? 'holds' : 'hold'}.`)
}

function checkAnchor({ anchor }: PresentHistory): CheckResult {
  if (anchor === undefined) return notProved('Nobody else vouches for the checkpoint: there is no anchor.')
  return notProved(`There is an anchor of the kind ${JSON.stringify(anchor.kind)}, which this verifier does not check.`)
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}
