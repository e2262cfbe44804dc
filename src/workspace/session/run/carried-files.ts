import { type CarriedFile, getHostStamp, readHostCopy } from '../../isolation/index.ts'
import { removeCarriedList, writeCarriedList } from './carried-list.ts'
import { replaceFile } from './replace-file.ts'

const POLL_INTERVAL_MS = 200

/**
 * Carries files of the home between a command and this machine. Each change of a shared file passes to the other side
 * while the command runs; a copied file is kept when it has ended. A removal is not passed on.
 */
export class CarriedFiles {
  readonly #shared: readonly SharedFile[]
  readonly #copied: readonly CarriedFile[]
  readonly #timer: NodeJS.Timeout | undefined
  readonly #directory: string

  /** @param directory of the session, in which the files are recorded until they are carried. */
  constructor(carried: readonly CarriedFile[], directory: string) {
    writeCarriedList(directory, carried)
    this.#directory = directory
    this.#shared = carried.filter(({ mode }) => mode === 'share').map((file) => new SharedFile(file))
    this.#copied = carried.filter(({ mode }) => mode === 'copy')
    if (this.#shared.length > 0) this.#timer = setInterval(() => this.#tryPass(), POLL_INTERVAL_MS)
  }

  /**
   * Passes the last changes on. Every process of the command must have ended. Returns a line for each file that cannot be
   * written: the work of the command must not be lost with it.
   */
  finish(): string[] {
    clearInterval(this.#timer)
    const failures = [
      ...this.#shared.flatMap((shared) => shared.finish()),
      ...this.#copied.flatMap(({ layer, kept }) => {
        if (kept === undefined) return []
        return describeFailure(kept, () => {
          const copy = layer.read()
          if (copy !== undefined) replaceFile(kept, copy)
        })
      }),
    ]
    if (failures.length === 0) removeCarriedList(this.#directory)
    return failures
  }

  /** A full or read-only disk must not end the command. The next poll tries again. */
  #tryPass(): void {
    for (const shared of this.#shared) describeFailure(shared.path, () => shared.pass())
  }
}

/** A file that exists on this machine and in the layer of a command, with the last state that both had. */
class SharedFile {
  readonly #file: CarriedFile
  #hostStamp: string | undefined
  #layerStamp: string | undefined

  constructor(file: CarriedFile) {
    this.#file = file
    this.#remember()
  }

  /** Path on this machine. */
  get path(): string {
    return this.#file.host
  }

  /** Passes the last change on. The layer may be kept for the next command, which gets the real file again. */
  finish(): string[] {
    const failure = describeFailure(this.path, () => this.pass())
    this.#file.layer.remove()
    return failure
  }

  /** Passes a change to the other side. The command's change wins over one of the same moment. */
  pass(): void {
    const { host, layer } = this.#file
    const [hostStamp, layerStamp] = [getHostStamp(host), layer.getStamp()]
    const isHostChanged = hostStamp !== undefined && hostStamp !== this.#hostStamp
    if (layerStamp !== undefined && layerStamp !== this.#layerStamp) this.#passOut()
    else if (isHostChanged && layerStamp !== undefined) this.#passIn()
    else return
    this.#remember()
  }

  #passOut(): void {
    const { host, layer } = this.#file
    const copy = layer.read()
    // A file that is being written is empty for a moment.
    if (copy === undefined || copy.bytes.length === 0) return
    replaceFile(host, { ...copy, mode: readHostCopy(host)?.mode ?? copy.mode })
  }

  #passIn(): void {
    const copy = readHostCopy(this.#file.host)
    if (copy !== undefined && copy.bytes.length > 0) this.#file.layer.write(copy)
  }

  #remember(): void {
    this.#hostStamp = getHostStamp(this.#file.host)
    this.#layerStamp = this.#file.layer.getStamp()
  }
}

/** Calls a function that writes a file. Returns a line about it if that fails. */
function describeFailure(path: string, write: () => void): string[] {
  try {
    write()
    return []
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [`coppice: ${path} does not have what the command wrote to it: ${reason}\n`]
  }
}
