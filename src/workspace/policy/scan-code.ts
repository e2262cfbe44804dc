import type { Finding } from './category.ts'
import { createFinding, createUnseenFindings } from './programs/index.ts'

const NETWORK =
  /https?:\/\/|\burllib|\brequests\b|\bhttpx\b|\baiohttp\b|\bsocket\b|\bhttp\.client|\bfetch\s*\(|\baxios\b|['"](?:node:)?(?:https?|net|dgram|tls|dns|http2)['"]|\bNet::HTTP|\bnet\/http|\bopen-uri|\bLWP\b|\bIO::Socket|\bfsockopen|\bfile_get_contents\s*\(\s*['"]http|\/inet\/|\b(?:smtp|ftp|imap|pop|telnet)lib|\bparamiko|\bxmlrpc\.client|\bboto3|\bopen_connection|\bWebSocket\b|\bEventSource\b|\bTCPSocket|\bTCPServer|\buse Socket\b|\bcurl_init|\bsocket_create|\bwebbrowser\b|\bpip\.(?:main|_internal)/
const REMOVAL =
  /\brmtree|\brmSync|\brmdirSync|\bunlink|\bos\.remove|\bos\.rmdir|\bremovedirs|\bFileUtils\.rm|\brm_rf?|\btruncate|\.rm\s*\(|\.rmdir\s*\(/
const RUNNING =
  /\bsystem\b|\bsyscmd|\besyscmd|\bexecute|%x|!|\bshell\b|\bcall-process|\bshell-command|\bexec|\bspawn|\bpopen|\bPopen|\bsubprocess|\bqx\b|`|\bos\.|\bchild_process|\bshell_exec|\bpassthru|\bproc_open|\bOpen3|_subprocess_|\bjobstart|\btermopen|\brun-program|\bcmd\b|\.command\b|\bgetline|\||["']</
/** Calls that run or load a file by its name. */
const BY_NAME =
  /\bsystem\s*\(|\bpopen|\bPopen|\bsubprocess|\bchild_process|\bexec\w*\s*\(|\beval\b|\bFunction\s*\(|\brequire\s*\(|\bimport\s*\(|\b__import__|\bimport_module|\bgetattr\s*\(|\bshell_exec|\bpassthru|\bqx\b/
/** Text that was split or encoded to hide its content. */
const DISGUISED =
  /(["'])[^"'\n,()]+\1\s*(?:\+|\.\.?)?\s*(["'])[^"'\n,()]+\2|b64decode|base64|fromhex|unhexlify|\batob\b|fromCharCode|\bchr\s*\(|\bpack\s*\(|codecs\.decode|decompress|marshal\.loads|\[::-1\]|\.reverse\s*\(/
/** Strings in brackets, of Perl, Ruby and macros: `qx{…}`, `q(…)`, `%x(…)`, `syscmd(…)`; editors run text after `!`. */
const BRACKETED =
  /(?:\bq[qxw]?|%[xqQ]?|syscmd)\s*[{([<]([^})\]>]*)|(?:^|[\s:%|[])!\s*([^\n"']+)|\b(?:exec|spawn|shell|system)\s+([^\n"'(]+)/g
/** Open modes before the name of a file or program: `open F, "</etc/passwd"`, `open("|ls")`. */
const MODE = /^[<>+|\s]+/
const STRINGS = /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`/gs

/** Plain hints found in code of another language. A search, not a proof: isolation stops what the code hides. */
export interface CodeScan {
  readonly findings: readonly Finding[]
  /** Strings in it that may name files. */
  readonly paths: readonly string[]
  /** Lines it may pass to a shell. */
  readonly lines: readonly string[]
}

export function scanCode(code: string): CodeScan {
  const strings = [...code.matchAll(STRINGS)].map(
    ([, double, single, back]) => double ?? single ?? back ?? '',
  )
  const isRunning = RUNNING.test(code)
  const bracketed = isRunning ? [...code.matchAll(BRACKETED)].map(([, ...found]) => found.join('')) : []
  return {
    findings: [
      ...(NETWORK.test(code) ? [createFinding('networked', 'has code that reaches the network')] : []),
      ...(REMOVAL.test(code) ? [createFinding('destructive', 'has code that deletes files')] : []),
      ...(BY_NAME.test(code) && DISGUISED.test(code)
        ? createUnseenFindings('code that is put together')
        : []),
    ],
    paths: strings
      .map((text) => text.replace(MODE, ''))
      .filter((text) => /^(?:\/\w|~\/|\.\.\/)/.test(text) && !/\s/.test(text)),
    // Two letters are no line, though there are programs with such names.
    lines: isRunning
      ? [...strings, ...bracketed, strings.join(' ')]
          .map((line) => line.replace(MODE, ''))
          .filter((line) => line.length > 2)
      : [],
  }
}
