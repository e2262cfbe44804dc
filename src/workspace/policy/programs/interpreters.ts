import { RUNS_CODE, toCode } from './fed-code.ts'
import { createInterpreter } from './interpreter.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'
import { python } from './python.ts'
import { IGNORING_HELP } from './queries.ts'
import { shells } from './shells.ts'

/** True for code by its address, or from a registry. */
function isFetched(word: string): boolean {
  return /^(?:https?|npm|jsr):/.test(word)
}

const javaScript = createInterpreter({
  code: '-e --eval -p --print -pe',
  values: '-r --require --import --loader -C --conditions --input-type',
  infoOptions: '-v --version -h --help',
})

const php = createInterpreter({
  code: '-r --run -B --process-begin -R --process-code -E --process-end',
  values: '-d -c -f -z -S -t',
  infoOptions: '-v --version -m -i',
})

const DENO_FETCHES =
  /^(?:add|install|i|upgrade|cache|outdated|update|publish|deploy|jupyter|audit|x|remove-cache|approve-scripts)$/
const denoCode = createInterpreter({
  code: '--eval -e -p --print',
  values: '',
  infoOptions: '-V --version --help',
})

/** Code comes after `eval`, over standard input after `run -`, from a file, or by its address. */
const deno: ProgramClassifier = (call) => {
  const [verb = '', ...args] = call.args
  if (verb === 'eval')
    return { ...createEffect('mutating', RUNS_CODE), runs: [toCode(args.join(' '))], paths: [] }
  const isFetching = DENO_FETCHES.test(verb) || call.args.some(isFetched)
  const effect = /^(?:run|repl)$/.test(verb)
    ? denoCode({ ...call, args })
    : createEffect('mutating', RUNS_CODE)
  return { ...effect, findings: [...effect.findings, ...(isFetching ? [createFinding('networked')] : [])] }
}

/** Programs that run code from their arguments or input. */
export const interpreters: ProgramTable = {
  ...shells,
  ...createAliases('node nodejs', javaScript),
  ...createAliases('tsx ts-node', javaScript),
  deno,
  ...createAliases('python python2 pypy pypy3 ipython', python),
  ...createAliases(
    'ruby irb',
    createInterpreter({ code: '-e', values: '-r -I -C', infoOptions: '-v --version -h --help' }),
  ),
  ...createAliases(
    'perl',
    createInterpreter({ code: '-e -E', values: '-M -m -I', infoOptions: '-v --version -V' }),
  ),
  ...createAliases('php', (call) =>
    call.args.some((arg) => /^(?:-S|--server$)/.test(arg))
      ? { findings: [createFinding('networked')] }
      : php(call),
  ),
  ...createAliases('lua luajit', createInterpreter({ code: '-e', values: '-l', infoOptions: '-v' })),
  ...createAliases(
    'Rscript R julia elixir osascript guile racket groovy scala swift ghci gnuplot octave octave-cli expect m4 dc raku crystal ocaml clojure clj bb sbcl clisp janet fennel nim jshell kotlin gjs qjs maxima gp',
    createInterpreter({
      code: '-e --eval -eval --execute -E -c --expression --batch-string -x',
      values: '-l',
      infoOptions: '--version',
    }),
  ),
  // They ignore options that they do not know, `--help` included, and run their input.
  ...createAliases(IGNORING_HELP, createInterpreter({ code: '-c -e -eval', values: '', infoOptions: '' })),
  ...createAliases('java dotnet mono wasmtime wasmer', ({ args }) =>
    /^--?version$/.test(args[0] ?? '') ? READS : createEffect('mutating', RUNS_CODE),
  ),
}
