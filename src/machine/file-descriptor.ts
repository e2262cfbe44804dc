import { closeSync } from 'node:fs'
import { DirectoryError } from './directory-error.ts'

/** The number of a descriptor, apart from its object: the finalizer needs it once the object is collected. */
interface DescriptorSlot {
  fd: number | undefined
}

const leakedDescriptors = new FinalizationRegistry<DescriptorSlot>(closeSlot)

/**
 * An open file descriptor that is closed exactly once.
 * Close it only when no system call on it is under way: its number may belong to another file a moment later.
 */
export class FileDescriptor {
  readonly #slot: DescriptorSlot
  #isGuarded = false

  constructor(fd: number) {
    this.#slot = { fd }
  }

  /** The number of the descriptor. EBADF once it is closed. */
  get fd(): number {
    const { fd } = this.#slot
    if (fd === undefined) throw new DirectoryError('EBADF')
    return fd
  }

  /** Closes it when it is garbage collected, for a descriptor whose caller may forget to. */
  closeOnFinalize(): this {
    leakedDescriptors.register(this, this.#slot, this.#slot)
    this.#isGuarded = true
    return this
  }

  close(): void {
    if (this.#isGuarded) leakedDescriptors.unregister(this.#slot)
    closeSlot(this.#slot)
  }
}

function closeSlot(slot: DescriptorSlot): void {
  const { fd } = slot
  if (fd === undefined) return
  slot.fd = undefined
  closeSync(fd)
}
