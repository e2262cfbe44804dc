import type { MaybePromise } from '../maybe-promise.ts'

/** Size of a full segment. */
export const SEGMENT_BYTES: number = 8 * 1024 * 1024
/** Streams above this size go to segments; smaller ones are rows of the engine. */
export const MIN_SEGMENTED_BYTES: number = 1024 * 1024

/** A stored segment. */
export interface SegmentInfo {
  readonly name: string
  readonly size: number
}

/**
 * Storage of segments: large content that is written once, outside the engine, before the commit that refers to it.
 * A segment never changes. Its name is random, so no two writers ever use the same one.
 */
export interface SegmentStore {
  /** Number of segments that a stream stores at a time. */
  readonly concurrency: number
  /**
   * Reason why this store neither adds nor deletes segments: they may belong to the original of a copied home.
   * Undefined if it does both.
   */
  readonly readOnlyReason: string | undefined
  /** Returns where a segment is, for messages. */
  locate(name: string): string
  /**
   * Stores a segment. Once it returns, the segment survives power loss. ENOSPC leaves nothing of it; after any other
   * failure it may exist, for a collection to remove.
   */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>
  /** Reads a range, less if the segment ends before; undefined if there is no such segment. */
  read(name: string, offset: number, length: number): MaybePromise<Uint8Array | undefined>
  list(): MaybePromise<readonly SegmentInfo[]>
  /** Deletes a segment, if it exists. */
  delete(name: string): MaybePromise<void>
  close(): MaybePromise<void>
}
