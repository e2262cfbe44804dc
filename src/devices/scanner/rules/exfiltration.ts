import { allowWordsAfter, createPhrasePattern, type ScanRule } from './rule.ts'

const SEND =
  '(?:send|post|upload|e ?mail|mail|forward|transmit|exfiltrate|leak|submit|paste|append|attach|encode|embed|report|deliver|publish)'
const SECRET =
  '(?:secrets?|credentials?|passwords?|passphrases?|api ?keys?|access keys?|tokens?|env file|environment(?: variables)?|env vars|private keys?|ssh keys?|system prompt|conversation|chat history|message history|cookies|contents? of (?:the )?(?:env|memory|home))'
const OUT = '(?:to|at|into|via|in|as)'
const AWAY =
  '(?:https?|www|webhook|external|pastebin|attacker|this (?:address|url|server|endpoint)|the following|image url|query string|url param(?:eter)?s?|[a-z0-9]+ (?:com|net|org|xyz))'
const SECRET_FILE = String.raw`(?:\.env\b|\.ssh\b|\bid_(?:rsa|ed25519|ecdsa)|\/etc\/(?:passwd|shadow)|\.aws\b|\.netrc|\.npmrc|\.pgpass|\.git-credentials|\.kube\b|\bprintenv\b|\benv\s*\|)`
const SECRET_VALUE = String.raw`\$[{(]?\w*(?:key|token|secret|passw|credential)\w*`
const CLIENT = String.raw`\b(?:curl|wget|nc|ncat|netcat|socat|scp|ftp|invoke-webrequest|iwr)\b`

const SENDS_SECRETS = 'it sends secrets out'

/** Texts that make a model leak secrets, or run code from others. */
export const exfiltrationRules: readonly ScanRule[] = [
  createRule(
    SENDS_SECRETS,
    'words',
    createPhrasePattern(allowWordsAfter(SEND, 6), allowWordsAfter(SECRET, 6), allowWordsAfter(OUT, 4), AWAY),
  ),
  createRule(
    SENDS_SECRETS,
    'words',
    createPhrasePattern(
      allowWordsAfter(SEND, 6),
      OUT,
      allowWordsAfter(AWAY, 8),
      allowWordsAfter('with|including|containing', 4),
      SECRET,
    ),
  ),
  createRule(
    SENDS_SECRETS,
    'plain',
    new RegExp(`${CLIENT}[^\\n]{0,300}(?:${SECRET_FILE}|${SECRET_VALUE})`, 'u'),
  ),
  createRule(SENDS_SECRETS, 'plain', new RegExp(`${SECRET_FILE}[^\\n]{0,200}\\|[^\\n]{0,100}${CLIENT}`, 'u')),
  createRule(
    'it runs what a server sends',
    'plain',
    new RegExp(
      `${CLIENT}[^\\n]{0,300}\\|\\s*(?:sudo\\s+)?(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby)\\b`,
      'u',
    ),
  ),
  createRule(
    'it runs what a server sends',
    'plain',
    /\b(?:ba|z)?sh\s+(?:-c\s+["']?\$\(|<\()\s*(?:curl|wget)\b|\beval\s+["'(]?\$\((?:curl|wget)\b/u,
  ),
  createRule(
    'a picture in it sends its address to a server',
    'plain',
    /!\[[^\]\n]{0,200}\]\(\s*https?:[^)\n]{0,300}[?&=#{$]|<img[^>\n]{0,300}src/u,
  ),
  createRule(
    'an address in it contains a secret',
    'plain',
    /https?:\/\/[^\s)]{0,200}[?&/=](?:\{+|\[|<|\$\{?)\s*(?:secret|token|key|password|conversation|history|memory|data|system|env|credential|prompt)/u,
  ),
  createRule('it contains a script', 'plain', /<script\b|\bjavascript:|\bdata:text\/html/u),
]

function createRule(says: string, reading: ScanRule['reading'], pattern: RegExp): ScanRule {
  return { kind: 'exfiltration', says, reading, pattern }
}
