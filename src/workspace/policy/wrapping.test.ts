import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, type ExecutionDecision, executionRequest, policyActions } from './index.ts'

/** A command as a line; a simple one can be an argument of a program that runs it. */
interface Line {
  readonly text: string
  readonly isSimple: boolean
}

type Wrap = (line: Line) => Line

const plain: readonly string[] = [
  'curl example.org',
  'rm -rf .',
  'git push',
  'git reset --hard',
  'cat /etc/passwd',
  'tee /etc/x',
  'touch f',
  'vim f',
  'npm install',
  'find . -delete',
  'sudo ls',
  'unheard-of x',
  'ls',
  'make all',
]

/** Programs that run the rest of their line. */
const wrappers: readonly Wrap[] = [
  'env A=1 ',
  'nohup ',
  'timeout 5 ',
  'nice -n 3 ',
  'command ',
  'exec ',
  'time ',
  'stdbuf -oL ',
  'setsid ',
  'xargs ',
  'xargs -I{} ',
  'xargs -l ',
  'exec -a ls ',
  'builtin command -p ',
  'env - ',
  'env -u A -C sub B=2 ',
  'ionice -c2 -n 7 ',
  'taskset -c 0 ',
  'taskset 0x1 ',
  'chrt -b 0 ',
  'strace -f -o log ',
  'perf stat -r 2 ',
  'valgrind --leak-check=full ',
  'busybox env ',
  'timeout --preserve-status -k 1 5 ',
  'nohup setsid -f ',
  'flock -n lock ',
  'strace -r -w ',
  'prlimit -c ',
  'numactl -l ',
  'trickle -s ',
  'aa-exec -d ',
  'rlwrap -a ',
  "faketime -f '+1d' ",
  'xargs -ti% ',
  'perf --no-pager stat --null ',
  'timeout -z ls 5 ',
  'nice --unheard-of ls ',
  'A=1 ',
  'A=<(:) ',
  '! ',
].map((start) => (line) => ({ text: start + simple(line), isSimple: start !== '! ' && start !== 'time ' }))

/** Grammar constructs around a command. */
const grammar: readonly Wrap[] = [
  ({ text }: Line) => `(${text}\n)`,
  ({ text }: Line) => `{ ${text}\n}`,
  ({ text }: Line) => `echo $(${text}\n)`,
  ({ text }: Line) => `echo "a $(${text}\n) b"`,
  ({ text }: Line) => `X=$(${text}\n) ls`,
  ({ text }: Line) => `echo \`${text.replaceAll(/[\\`$]/g, '\\$&')}\``,
  ({ text }: Line) => `cat <(${text}\n)`,
  ({ text }: Line) => `ls\n${text}`,
  ({ text }: Line) => `true && {\n${text}\n}`,
  ({ text }: Line) => `ls | {\n${text}\n}`,
  ({ text }: Line) => `if true; then\n${text}\nfi`,
  ({ text }: Line) => `for i in a; do\n${text}\ndone`,
  ({ text }: Line) => `f() {\n${text}\n}\nf`,
  ({ text }: Line) => `{\n${text}\n} &`,
  ({ text }: Line) => `until\n${text}\ndo :; done`,
  ({ text }: Line) => `select x in a; do\n${text}\ndone`,
  ({ text }: Line) => `case $(${text}\n) in *) ;; esac`,
  ({ text }: Line) => `case x in *)\n${text}\n;; esac`,
  ({ text }: Line) => `coproc {\n${text}\n}`,
  ({ text }: Line) => `[[ -n $(${text}\n) ]]`,
  ({ text }: Line) => `[ -n "$(${text}\n)" ]`,
  ({ text }: Line) => `(( $(${text}\n) ))`,
  ({ text }: Line) => `echo \${a[$(${text}\n)]}`,
  ({ text }: Line) => `echo \${a:-$(${text}\n)}`,
  ({ text }: Line) => `a=(1 $(${text}\n))`,
  ({ text }: Line) => `declare -A m=([k]=$(${text}\n))`,
  ({ text }: Line) => `ls > >(${text}\n)`,
  ({ text }: Line) => `for ((i=$(${text}\n); i<1; i++)); do :; done`,
  ({ text }: Line) => `function ls {\n${text}\n}; ls`,
].map((wrap) => (line: Line) => ({ text: wrap(line), isSimple: false }))

/** Lines that are passed to another shell. */
const shells: readonly Wrap[] = [
  ({ text }: Line) => `sh -c ${quoted(text)}`,
  ({ text }: Line) => `bash -lc ${quoted(text)}`,
  ({ text }: Line) => `bash -e -o pipefail -c ${doubleQuoted(text)}`,
  ({ text }: Line) => `bash -oc pipefail ${quoted(text)}`,
  ({ text }: Line) => `bash -login -c ${quoted(text)} --help`,
  ({ text }: Line) => `perf stat --pre ${quoted(text)} ls`,
  ({ text }: Line) => `eval ${quoted(text)}`,
  ({ text }: Line) => `find . -exec sh -c ${quoted(text)} ';'`,
  ({ text }: Line) => `eval -- ${quoted(text)}`,
  ({ text }: Line) => `sh +e -c ${quoted(text)}`,
  ({ text }: Line) => `busybox sh -c ${quoted(text)}`,
  ({ text }: Line) => `env -S ${quoted(`sh -c ${doubleQuoted(text)}`)}`,
  ({ text }: Line) => `trap ${quoted(text)} EXIT`,
  ({ text }: Line) => `git bisect run sh -c ${quoted(text)}`,
  ({ text }: Line) => `git -c ${quoted(`alias.x=!${text}`)} x`,
  ({ text }: Line) => `tar cf a.tar --checkpoint-action=exec=${quoted(text)} .`,
  ({ text }: Line) => `flock f -c ${quoted(text)}`,
  ({ text }: Line) => `script -qc ${quoted(text)} f`,
  ({ text }: Line) => `hyperfine ${quoted(text)}`,
  ({ text }: Line) => `parallel ::: ${quoted(text)}`,
  ({ text }: Line) => `mapfile -C ${quoted(text)} a`,
  ({ text }: Line) => `ssh host ${quoted(text)}`,
].map((wrap) => (line: Line) => ({ text: wrap(line), isSimple: true }))

const fed: readonly Wrap[] = [
  (line: Line) => `sh <<< ${quoted(line.text)}`,
  (line: Line) => `echo ${quoted(line.text)} | bash`,
  (line: Line) => `bash - <<< ${quoted(line.text)}`,
  (line: Line) => `bash /dev/stdin <<< ${quoted(line.text)}`,
  (line: Line) => `bash //dev/./stdin <<< ${quoted(line.text)}`,
  (line: Line) => `bash -s --help <<< ${quoted(line.text)}`,
  (line: Line) => `. /dev/stdin <<< ${quoted(line.text)}`,
  (line: Line) => `sh <<'END${line.text.length}'\n${line.text}\nEND${line.text.length}`,
].map((wrap) => (line: Line) => ({ text: wrap(line), isSimple: false }))

/** Code of other languages that contains a line: only strong effects count. */
const foreign: readonly ((text: string) => string)[] = [
  (text) => `python -c ${quoted(`import os; os.system(${JSON.stringify(text)})`)}`,
  (text) => `node -e ${quoted(`require('child_process').execSync(${JSON.stringify(text)})`)}`,
  (text) => `perl -e ${quoted(`system(${JSON.stringify(text)})`)}`,
  (text) => `ruby -e ${quoted(`system(${JSON.stringify(text)})`)}`,
  (text) => `awk ${quoted(`BEGIN { system(${JSON.stringify(text)}) }`)}`,
  (text) => `vim -c ${quoted(`!${text}`)} f`,
  (text) => `make -f - <<< ${quoted(`all:\n\t@${text}`)}`,
  (text) => `sqlite3 a.db ${quoted(`.shell ${text}`)}`,
  (text) => `[[ -v ${quoted(`a[$(${text})]`)} ]]`,
  (text) => `printf -v ${quoted(`a[$(${text})]`)} %s x`,
]

/** Other spellings of the same word. */
const spellings: readonly ((word: string) => string)[] = [
  (word) => word,
  quoted,
  doubleQuoted,
  (word) => [...word].map((letter) => `\\${letter}`).join(''),
  (word) =>
    `$'${[...word].map((letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}'`,
  (word) => `${word.slice(0, 1)}""${word.slice(1)}`,
  (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}`,
]

const wraps = fc.array(fc.constantFrom(...wrappers, ...grammar, ...shells, ...fed), { maxLength: 4 })
const spelled = fc.tuple(
  fc.constantFrom(...plain),
  fc.array(fc.constantFrom(...spellings), { minLength: 4, maxLength: 4 }),
)

describe('wrapping a command', () => {
  it('never weakens its findings, however it is spelled and nested', () => {
    fc.assert(
      fc.property(spelled, wraps, ([command, ways], around) => {
        const words = command.split(' ').map((word, index) => ways[index]?.(word) ?? word)
        const { text } = around.reduce<Line>((line, wrap) => wrap(line), {
          text: words.join(' '),
          isSimple: true,
        })
        const [before, after] = [judged(command), judged(text)]
        expect({ text, missing: weakened(before, after) }).toEqual({ text, missing: [] })
      }),
      { numRuns: 2000 },
    )
  })

  it('never makes its decision weaker, in any language', () => {
    const around = fc.array(fc.constantFrom(...wrappers, ...grammar), { maxLength: 2 })
    const telling = plain.filter((command) => rank(judged(command)) > rank(judged('touch f')))
    fc.assert(
      fc.property(
        fc.constantFrom(...telling),
        fc.constantFrom(...foreign),
        around,
        (command, wrap, outer) => {
          const inner: Line = { text: wrap(command), isSimple: false }
          const { text } = outer.reduce<Line>((line, one) => one(line), inner)
          expect({ text, isWeaker: rank(judged(text)) < rank(judged(command)) }).toEqual({
            text,
            isWeaker: false,
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  it('never makes its decision weaker, at any depth', () => {
    const deep = fc.array(fc.constantFrom(...wrappers, ...grammar), { minLength: 5, maxLength: 60 })
    fc.assert(
      fc.property(fc.constantFrom(...plain), deep, (command, around) => {
        const { text } = around.reduce<Line>((line, wrap) => wrap(line), { text: command, isSimple: true })
        expect({ text, isWeaker: rank(judged(text)) < rank(judged(command)) }).toEqual({
          text,
          isWeaker: false,
        })
      }),
      { numRuns: 100 },
    )
  })

  it('always decides the same, and never throws, for any text', () => {
    const pieces = fc.constantFrom(
      '$(',
      ')',
      '`',
      '"',
      "'",
      '{',
      '}',
      '|',
      '&&',
      ';',
      '\n',
      '<<E',
      'E',
      '>',
      'curl',
      'rm',
      ' ',
      '\\',
      '$',
      '[[',
      ']]',
      '((',
      '=',
      '~',
      '..',
      '/',
      '*',
    )
    const text = fc
      .array(fc.oneof(pieces, fc.string()), { minLength: 1, maxLength: 30 })
      .map((all) => `x${all.join('').replaceAll('\0', '')}`)
    fc.assert(
      fc.property(text, (line) => {
        expect(judged(line)).toEqual(judged(line))
      }),
      { numRuns: 2000 },
    )
  })
})

function judged(shell: string): ExecutionDecision {
  return decide(executionRequest({ vault: 'v', command: { shell } }))
}

function weakened(before: ExecutionDecision, after: ExecutionDecision): string[] {
  const missing = before.categories.filter((one) => one !== 'read_only' && !after.categories.includes(one))
  return rank(after) < rank(before) ? [...missing, after.action] : missing
}

function rank({ action }: ExecutionDecision): number {
  return policyActions.indexOf(action)
}

function simple({ text, isSimple }: Line): string {
  return isSimple ? text : `sh -c ${quoted(text)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function doubleQuoted(text: string): string {
  return `"${text.replaceAll(/[\\"$`]/g, '\\$&')}"`
}
