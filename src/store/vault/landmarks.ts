import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { EngineReader } from '../engine-reader.ts'
import { getJournalStart, type VaultHead } from './vault-head.ts'

/**
 * Number of journal rows from one landmark to the next, or more if no flush came in between. Opening a moment replays
 * no more, whatever the length of the journal; each landmark keeps the pages that have changed since.
 */
const LANDMARK_AFTER_ROWS = 1000

/** A stored tree that a flush left behind: moments after it are rebuilt from here. */
export interface Landmark {
  readonly root: number
  /** Last journal row of the tree. */
  readonly seq: number
}

export const landmarkPrefix = 'landmark/'

/** Reports whether a flush up to a row leaves a landmark. */
export function isLandmarkDue(head: VaultHead, seq: number): boolean {
  return seq - (head.landmark ?? getJournalStart(head)) >= LANDMARK_AFTER_ROWS
}

export function toLandmarkRecord(vault: number, landmark: Landmark): { key: string; bytes: Uint8Array } {
  return { key: `${landmarkPrefix}${vault}/${landmark.seq}`, bytes: encodeChecksummedJson(landmark) }
}

export function decodeLandmark({ bytes }: { readonly bytes: Uint8Array }): Landmark {
  return decodeChecksummedJson(bytes, 'a landmark')
}

/** Lists the landmarks of a vault, in no order. */
export function listLandmarks(reader: EngineReader, vault: number): (Landmark & { readonly key: string })[] {
  return reader
    .listRecords(`${landmarkPrefix}${vault}/`)
    .flatMap(({ key, bytes }) => (bytes === null ? [] : [{ key, ...decodeLandmark({ bytes }) }]))
}

/** Lists the landmarks in the history of a vault: its own, and those of its ancestors up to the forks. */
export function listInheritedLandmarks(reader: EngineReader, { id, lineage }: VaultHead): Landmark[] {
  return [
    ...listLandmarks(reader, id),
    ...lineage.flatMap((ancestor) =>
      listLandmarks(reader, ancestor.id).filter(({ seq }) => seq <= ancestor.seq),
    ),
  ]
}
