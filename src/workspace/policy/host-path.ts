import { normalize } from '../../vfs/index.ts'
import { descend } from './shell/depth.ts'

/**
 * Directories of this machine in place of which a command gets empty ones of its own. A command that has them also has a
 * loopback of its own, unless it is given the network.
 */
export interface PrivatePaths {
  readonly directories: readonly string[]
  /** Paths inside them that still stand for those of this machine. */
  readonly except: readonly string[]
  /** Other paths of the workspace on this machine, through links outside of it. */
  readonly aliases?: readonly string[]
  /** True if another command runs on that loopback already. */
  readonly isLoopbackShared?: boolean
}

/** Place of a command in the workspace, for resolving paths. */
export interface PathContext {
  /** Depth below the root of the workspace, in directories. */
  readonly depth: number
  /** Path of the workspace on this machine, if known. */
  readonly root: string | undefined
  readonly privatePaths: PrivatePaths
}

/** Devices that hold no data. */
const HARMLESS_DEVICE = /^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd\/\d+)$/
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i
/** Option with its value attached: `-o/etc/x`, `-C..`. */
const GLUED_OPTION = /^-[A-Za-z]+(?=[/~]|\.\.)/
/** Characters after which a path may begin: `--out=/etc/x`, `-v /:/host`, `@/etc/passwd`. */
const SEPARATORS = /[=:,@]/

const MAY_LEAD_OUT = /[/~]|\.\./
const PARENT_PATTERN = /(?:^|\/)(?:\.(?:[?*]|\.\*|\[[.^!])|[@+?*]\(\.)[^/]*\//
const PARENT_PATTERNS = /(^|\/)(?:\.(?:[?*]|\.\*|\[[.^!])|[@+?*]\(\.)[^/]*(?=\/)/g
const SYSTEM_PATH =
  /^(?:~|\.\.(?:\/|$)|\/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr|var|Users)(?:\/|$))/

/** True if a word that may be anything, such as a route of a server, is plainly a path of the system. */
export function isSystemPath(word: string): boolean {
  return SYSTEM_PATH.test(word)
}

/** Returns the first path in a word that leads out of the workspace. */
export function findHostPath(word: string, pathContext: PathContext): string | undefined {
  if (!MAY_LEAD_OUT.test(word)) return undefined
  if (ADDRESS.test(word))
    return word.startsWith('file://') ? findLeavingPath(word.slice(7), pathContext) : undefined
  const whole = findLeavingPath(word.replace(GLUED_OPTION, ''), pathContext)
  if (whole !== undefined || !SEPARATORS.test(word)) return whole
  for (const piece of word.split(SEPARATORS)) {
    const found = findLeavingPath(piece, pathContext)
    if (found !== undefined) return found
  }
  return undefined
}

/** Replaces patterns that also match `..` by it. */
function expandParentPatterns(path: string): string {
  return PARENT_PATTERN.test(path) ? path.replaceAll(PARENT_PATTERNS, '$1..') : path
}

function findLeavingPath(path: string, { depth, root, privatePaths }: PathContext): string | undefined {
  if (path.startsWith('~')) return /^~[\w.+-]*(?:\/|$)/.test(path) ? path : undefined
  const expanded = expandParentPatterns(path)
  if (!path.startsWith('/')) return descend(expanded, depth) < 0 ? path : undefined
  const real = normalize(expanded)
  if (HARMLESS_DEVICE.test(real) || isPrivate(real, privatePaths)) return undefined
  if (root === undefined) return real
  const roots = [root, ...(privatePaths.aliases ?? [])]
  return roots.some((each) => isWithin(real, each)) ? undefined : real
}

function isPrivate(path: string, { directories, except }: PrivatePaths): boolean {
  return directories.some((each) => isWithin(path, each)) && !except.some((each) => isWithin(path, each))
}

/** True if a path is the directory or lies below it. */
function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}
