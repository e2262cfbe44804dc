import type { Finding } from './category.ts'
import { finding } from './programs/index.ts'

const NETWORK =
  /https?:\/\/|\burllib|\brequests\b|\bhttpx\b|\baiohttp\b|\bsocket\b|\bhttp\.client|\bfetch\s*\(|\baxios\b|['"](?:node:)?(?:https?|net|dgram|tls|dns|http2)['"]|\bNet::HTTP|\bLWP\b|\bIO::Socket|\bfsockopen|\bfile_get_contents\s*\(\s*['"]http|\/inet\/|\bsmtplib|\bftplib|\bparamiko/
const REMOVAL =
  /\brmtree|\brmSync|\brmdirSync|\bunlink|\bos\.remove|\bos\.rmdir|\bremovedirs|\bFileUtils\.rm|\brm_rf?|\btruncate|\.rm\s*\(|\.rmdir\s*\(/
const RUNNING =
  /\bsystem\b|\bexec|\bspawn|\bpopen|\bPopen|\bsubprocess|\bqx\b|`|\bos\.|\bchild_process|\bshell_exec|\bpassthru|\bgetline|\|/
const STRINGS = /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`/gs

/** What code of another language is plainly about. A search, not a proof: what it hides is for isolation to stop. */
export interface CodeSigns {
  readonly findings: readonly Finding[]
  /** Strings in it that may name files. */
  readonly paths: readonly string[]
  /** Lines it may hand to a shell. */
  readonly lines: readonly string[]
}

export function signsIn(code: string): CodeSigns {
  const strings = [...code.matchAll(STRINGS)].map(
    ([, double, single, back]) => double ?? single ?? back ?? '',
  )
  return {
    findings: [
      ...(NETWORK.test(code) ? [finding('networked', 'has code that reaches the network')] : []),
      ...(REMOVAL.test(code) ? [finding('destructive', 'has code that takes files away')] : []),
    ],
    paths: strings.filter((text) => /^(?:\/\w|~\/|\.\.\/)/.test(text) && !/\s/.test(text)),
    lines: RUNNING.test(code) ? [...strings, strings.join(' ')] : [],
  }
}
