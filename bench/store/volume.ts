import type { FileVolume } from '../vfs/volume.ts'

/** Operations of a subject of the `store` benchmark. Its files stay on disk until the volume is disposed. */
export interface StoreSubject {
  /** Small files and the bytes of the large file: fewer where it would take minutes. */
  readonly textFiles: number
  readonly largeFileBytes: number
  /** Small files of the warm-up: enough for V8 to compile the code. */
  readonly warmUpFiles: number
  /** A new, empty volume. */
  open(): Promise<StoreVolume>
}

export interface StoreVolume extends FileVolume {
  /** Writes all files, issued at once; by itself if it has a better way than its `write`. */
  writeTogether?(files: readonly { path: string; bytes: Uint8Array }[]): Promise<void>
}
