import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './tools.ts'

/** In memory where that is possible: a sync of the disk in the file then costs next to nothing. */
const IMAGES = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export interface DiskOptions {
  readonly megabytes: number
  /** As large as the file system likes when absent. */
  readonly blockBytes?: number
  /** A tmpfs instead: only to be filled. */
  readonly isMemory?: boolean
}

/** A disk made of a file, with ext4 on it, whose power can be cut. Dispose of it, and it is unmounted and gone. */
export class LoopDisk implements Disposable {
  /** Where it is mounted. */
  readonly path: string
  #image: string

  constructor(options: number | DiskOptions) {
    const facts: DiskOptions = typeof options === 'number' ? { megabytes: options } : options
    const { megabytes, blockBytes, isMemory } = facts
    this.path = mkdtempSync(join(tmpdir(), 'coppice-disk-'))
    this.#image = `${mkdtempSync(join(IMAGES, 'coppice-image-'))}/disk`
    try {
      if (isMemory === true) {
        run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', this.path)
        return
      }
      writeFileSync(this.#image, '')
      truncateSync(this.#image, megabytes * 2 ** 20)
      const blocks = blockBytes === undefined ? [] : ['-b', `${blockBytes}`]
      run('mkfs.ext4', '-q', '-F', '-m', '0', ...blocks, this.#image)
      this.#mount()
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** From this moment nothing reaches the disk any more, and what was not synced is lost. */
  cutPower(): void {
    // Not -f, which would first write out what the file system has promised.
    run('xfs_io', '-r', '-x', '-c', 'shutdown', this.path)
  }

  /** As after a power cut: what the disk has is all there is. */
  restart(): void {
    // Whoever was killed may need a moment to let go of it.
    for (let tries = 1; ; tries++) {
      try {
        run('umount', this.path)
        break
      } catch (error) {
        if (tries === 100) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
      }
    }
    this.#copyImage()
    this.#mount()
  }

  /** A session that started meanwhile may keep the old mount in its namespace: the same image would share its state. */
  #copyImage(): void {
    const copy = `${this.#image}-again`
    run('cp', '--sparse=always', this.#image, copy)
    this.#image = copy
  }

  [Symbol.dispose](): void {
    try {
      // Lazily: whoever is still in there must not keep the disk.
      run('umount', '--lazy', this.path)
    } catch {
      // It was not mounted.
    }
    rmSync(this.path, { recursive: true, force: true })
    rmSync(join(this.#image, '..'), { recursive: true, force: true })
  }

  #mount(): void {
    // The loop device goes with the mount. Nothing is written back before its time, unless somebody asks for it.
    run('mount', '-o', 'loop,commit=300', this.#image, this.path)
  }
}
