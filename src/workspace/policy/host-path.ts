import { normalize } from '../../vfs/index.ts'
import { descend } from './shell/depth.ts'

/** Where a command runs, as far as paths are concerned. */
export interface PathContext {
  /** How many directories below the root of the workspace. */
  readonly depth: number
  /** Where the workspace is on this machine, if that is known. */
  readonly root: string | undefined
  /** Whether `/tmp` is the command's own. */
  readonly hasPrivateTmp: boolean
}

/** Devices that hold nothing of anybody. */
const HARMLESS_DEVICE = /^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd\/\d+)$/
const PRIVATE = /^\/(?:var\/)?tmp(?:\/|$)/
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i
/** An option with its value right behind it: `-o/etc/x`, `-C..`. */
const GLUED_OPTION = /^-[A-Za-z]+(?=[/~]|\.\.)/
/** What a path may come after: `--out=/etc/x`, `-v /:/host`, `@/etc/passwd`. */
const SEPARATORS = /[=:,@]/

const MAY_LEAD_OUT = /[/~]|\.\./
const PARENT_PATTERN = /(?:^|\/)(?:\.(?:[?*]|\.\*|\[[.^!])|[@+?*]\(\.)[^/]*\//
const PARENT_PATTERNS = /(^|\/)(?:\.(?:[?*]|\.\*|\[[.^!])|[@+?*]\(\.)[^/]*(?=\/)/g
const SYSTEM_PATH =
  /^(?:~|\.\.(?:\/|$)|\/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr|var|Users)(?:\/|$))/

/** Whether a word that may be anything, a route of a server for example, is plainly a path of the system. */
export function isSystemPath(word: string): boolean {
  return SYSTEM_PATH.test(word)
}

/** The first path in a word that leads out of the workspace. */
export function findHostPath(word: string, place: PathContext): string | undefined {
  if (!MAY_LEAD_OUT.test(word)) return undefined
  if (ADDRESS.test(word))
    return word.startsWith('file://') ? findLeavingPath(word.slice(7), place) : undefined
  const whole = findLeavingPath(word.replace(GLUED_OPTION, ''), place)
  if (whole !== undefined || !SEPARATORS.test(word)) return whole
  for (const piece of word.split(SEPARATORS)) {
    const found = findLeavingPath(piece, place)
    if (found !== undefined) return found
  }
  return undefined
}

/** Patterns that match `..` as well as anything else lead upwards. */
function expandParentPatterns(path: string): string {
  return PARENT_PATTERN.test(path) ? path.replaceAll(PARENT_PATTERNS, '$1..') : path
}

function findLeavingPath(path: string, { depth, root, hasPrivateTmp }: PathContext): string | undefined {
  if (path.startsWith('~')) return /^~[\w.+-]*(?:\/|$)/.test(path) ? path : undefined
  if (!path.startsWith('/')) return descend(expandParentPatterns(path), depth) < 0 ? path : undefined
  const real = normalize(path)
  if (HARMLESS_DEVICE.test(real) || (hasPrivateTmp && PRIVATE.test(real))) return undefined
  const isInside = root !== undefined && (real === root || real.startsWith(`${root}/`))
  return isInside ? undefined : real
}
