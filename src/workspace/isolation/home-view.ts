import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CommandConfinement, isWithin } from './command-confinement.ts'
import { createReadOnlyLine, createSelfBind, type HostMountPoint } from './host-mounts.ts'
import { LayerFile, readHostCopy } from './layer-file.ts'
import { createOverlayLine } from './overlay-lines.ts'
import { formatCommandLine, quoteWord } from './quote.ts'
import type { ResolvedPath } from './visible-paths.ts'

/** Name of the directory that holds files of mode `copy`. Each directory of mode `copy` has one of its own beside it. */
const COPIED_FILES = 'files'
/** Beginning of the names of the work directories of overlays over the copies. */
export const WORK_PREFIX = 'work-'

/** A file of the home that a command may change, in a writable layer of its own. */
export interface CarriedFile {
  readonly mode: 'copy' | 'share'
  /** The real file. */
  readonly host: string
  /** The file as the command has it. */
  readonly layer: LayerFile
  /** Path that keeps the file for the next command; undefined for a shared one. */
  readonly kept?: string
}

/** The visible part of the home for one launch: shell lines that mount it, and its changeable files. */
export interface HomeView {
  /** Lines that mount each tree in the session's directory. They run before anything covers the home. */
  readonly prepareLines: readonly string[]
  /** Lines that put the trees that contain the workspace, and the sockets, into place. */
  readonly aroundLines: readonly string[]
  /** Lines that put the other trees into place, once the workspace is mounted. */
  readonly placeLines: readonly string[]
  /** Lines for a home that cannot have a writable layer: they put single files into place. */
  readonly fallbackLines: readonly string[]
  readonly carried: readonly CarriedFile[]
}

/** A writable directory of the session that appears at a path of the home. */
interface Layer {
  readonly path: string
  readonly upper: string
}

/**
 * Prepares the visible part of the home. Directories are mounted. A file that may change is an ordinary file in the
 * nearest writable layer, so that a program can replace it by a rename.
 *
 * @param scratch name of the directory with the layer over the whole home, in the session's directory.
 */
export function createHomeView(
  confined: CommandConfinement,
  scratch: string | undefined,
  mounts: readonly HostMountPoint[],
): HomeView {
  return new HomeViewBuilder(confined, scratch, mounts).build()
}

class HomeViewBuilder {
  readonly #confined: CommandConfinement
  readonly #mounts: readonly HostMountPoint[]
  readonly #layers: Layer[] = []
  readonly #prepare: string[] = []
  readonly #around: string[] = []
  readonly #place: string[] = []
  readonly #fallback: string[] = []
  readonly #carried: CarriedFile[] = []
  readonly #scratch: string | undefined
  readonly #copies: string
  #count = 0

  constructor(confined: CommandConfinement, scratch: string | undefined, mounts: readonly HostMountPoint[]) {
    this.#confined = confined
    this.#mounts = mounts
    this.#copies = confined.plan.copies ?? join(confined.directory, 'copies')
    this.#scratch = scratch
    if (scratch !== undefined && confined.scratch !== undefined)
      this.#layers.push({ path: confined.scratch, upper: join(confined.directory, scratch, 'upper') })
  }

  build(): HomeView {
    const { visible, opened } = this.#confined
    const directories = visible.filter(({ isDirectory }) => isDirectory)
    const trees = [...opened.map(({ path }) => path), ...directories.map(({ path }) => path)].sort()
    for (const path of trees) {
      const shown = directories.find((each) => each.path === path)
      if (shown === undefined) this.#openHidden(path)
      else this.#showDirectory(shown)
    }
    for (const file of visible) if (!file.isDirectory) this.#showFile(file)
    for (const path of this.#confined.sockets) this.#showSocket(path)
    return {
      prepareLines: this.#prepare,
      aroundLines: this.#around,
      placeLines: this.#place,
      fallbackLines: this.#fallback,
      carried: this.#carried,
    }
  }

  /** Replaces a hidden directory by an empty one, in which its visible paths appear. */
  #openHidden(path: string): void {
    const name = this.#createTree('opened')
    const upper = join(this.#confined.directory, name)
    this.#layers.push({ path, upper })
    for (const each of this.#confined.visible) {
      if (each.exists && isWithin(each.path, path))
        createMountpoint(join(upper, each.path.slice(path.length)), each)
    }
    this.#mountTree(name, path)
  }

  #showDirectory(shown: ResolvedPath): void {
    const { path, mode, exists } = shown
    if (mode === 'copy') this.#copyDirectory(shown)
    else if (exists) this.#mountTree(this.#bind(shown), path)
  }

  /** Mounts an overlay whose upper tree is kept. Where there are no overlays, a copy takes its place. */
  #copyDirectory({ path, exists }: ResolvedPath): void {
    const { directory: session, privilege } = this.#confined
    const tree = this.#createTree('tree')
    const copy = join(this.#copies, encodeURIComponent(this.#toRelative(path)))
    mkdirSync(join(copy, 'upper'), { recursive: true })
    const oldWorkNames = readdirSync(copy).filter((name) => name.startsWith(WORK_PREFIX))
    const lower = join(session, `${tree}-lower`)
    if (exists) symlinkSync(path, lower)
    else mkdirSync(lower)
    rmSync(join(copy, 'lower'), { force: true })
    symlinkSync(lower, join(copy, 'lower'))
    const link = `${tree}-layers`
    symlinkSync(copy, join(session, link))
    if (exists) chmodSync(join(copy, 'upper'), statSync(path).mode)
    const copyLine = `{ [ -e ${link}/copied ] || cp -a -n ${link}/lower/. ${link}/upper; : > ${link}/copied; mount -n --bind ${link}/upper ${tree}; }`
    // The shell removes them, because it runs with the privilege of the commands that wrote them.
    if (oldWorkNames.length > 0)
      this.#prepare.push(`rm -rf ${formatCommandLine(oldWorkNames.map((name) => `${link}/${name}`))}`)
    this.#prepare.push(
      `${createOverlayLine({ session, directory: link, privilege }, tree)} 2>&- || ${copyLine}`,
    )
    this.#layers.push({ path, upper: join(copy, 'upper') })
    this.#mountTree(tree, path)
  }

  #showFile(file: ResolvedPath): void {
    const { path, mode, exists } = file
    if (mode === 'read') {
      if (exists) this.#mountTree(this.#bind(file), path, false)
      return
    }
    const layer = this.#findLayer(path)
    if (layer === undefined) return
    const layerFile = new LayerFile(layer.upper, layer.path, path.slice(layer.path.length + 1))
    const kept = mode === 'copy' ? join(this.#copies, COPIED_FILES, this.#toRelative(path)) : undefined
    const content = (kept === undefined ? undefined : readHostCopy(kept)) ?? readHostCopy(path)
    layerFile.remove()
    if (content !== undefined) layerFile.write(content)
    this.#carried.push({ mode, host: path, layer: layerFile, ...(kept !== undefined && { kept }) })
    const isInScratch = this.#scratch !== undefined && layer === this.#layers[0]
    if (isInScratch && content !== undefined && exists) this.#addFallback(layerFile.path, path)
  }

  /** Binds a socket, and again once private directories cover it. */
  #showSocket(path: string): void {
    const name = this.#createTree('socket', false)
    const [target, directory] = [quoteWord(path), quoteWord(dirname(path))]
    this.#prepare.push(`mount -n --bind ${target} ${name}`)
    this.#around.push(
      `[ -e ${target} ] || { mkdir -p ${directory}; : > ${target}; }`,
      `mount -n --no-canonicalize --bind ${name} ${target}`,
    )
  }

  #addFallback(file: string, path: string): void {
    const from = file.slice(this.#confined.directory.length + 1)
    this.#fallback.push(`mount -n --no-canonicalize --bind ${quoteWord(from)} ${quoteWord(path)}`)
  }

  /** Binds a real file or directory in the session's directory; read-only for mode `read`. */
  #bind({ path, mode, isDirectory }: ResolvedPath): string {
    const name = this.#createTree('view', isDirectory)
    this.#prepare.push(`mount -n --bind ${quoteWord(path)} ${name}`)
    if (mode === 'read')
      this.#prepare.push(createReadOnlyLine({ ...createSelfBind(path, this.#mounts), path: name }))
    return name
  }

  /** Adds the lines that put a tree into place. The path may be missing where the home cannot be written. */
  #mountTree(name: string, path: string, isDirectory = true): void {
    const target = quoteWord(path)
    const isAround = isWithin(this.#confined.workspace, path)
    const lines = isAround ? this.#around : this.#place
    const mount = `mount -n --no-canonicalize --bind ${name} ${target}`
    lines.push(isDirectory ? `if [ -d ${target} ] || mkdir -p ${target} 2>&-; then ${mount}; fi` : mount)
  }

  /** Creates an empty directory or file to mount on, in the session's directory. Returns its name. */
  #createTree(kind: string, isDirectory = true): string {
    const name = `${kind}-${this.#count++}`
    const path = join(this.#confined.directory, name)
    rmSync(path, { recursive: true, force: true })
    for (const more of ['-lower', '-layers']) rmSync(path + more, { recursive: true, force: true })
    if (isDirectory) mkdirSync(path)
    else writeFileSync(path, '')
    return name
  }

  /** Returns the writable layer that contains a path: the innermost one. */
  #findLayer(path: string): Layer | undefined {
    return this.#layers
      .filter((layer) => isWithin(path, layer.path))
      .toSorted((one, other) => other.path.length - one.path.length)[0]
  }

  #toRelative(path: string): string {
    return path.slice((this.#confined.home ?? '').length + 1)
  }
}

/** Creates the entry on which a visible path is mounted. */
function createMountpoint(path: string, { isDirectory, mode }: ResolvedPath): void {
  mkdirSync(isDirectory ? path : dirname(path), { recursive: true })
  if (!isDirectory && mode === 'read') writeFileSync(path, '')
}
