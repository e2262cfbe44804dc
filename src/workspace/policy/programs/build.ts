import { isLiteral } from '../shell/unknown.ts'
import { findCarriedCommands } from './carried-commands.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  createFixedPrograms,
  createUnseenFindings,
  isStandardInput,
  isStream,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'

const BUILDS = 'runs commands of the project'

const MAKE_VALUES = toOptionSet(
  '-f --file --makefile -C --directory -I --include-dir -E --eval -o --old-file -W',
)

/** `make CC='curl x'`: a variable becomes part of its recipes, and so do rules from `--eval` or standard input. */
const make: ProgramClassifier = ({ args, stdin }) => {
  const sorted = parseArguments(args, MAKE_VALUES)
  if (args.length === 1 && args[0] === '-v') return READS
  const settings = args.flatMap(
    (arg) => arg.match(/^[A-Za-z_.][\w.-]*(?::{1,3}|[+?!])?=(.*)$/s)?.slice(1) ?? [],
  )
  const files = getValues(sorted, '-f --file --makefile')
  const isFed = files.some(isStream)
  const rules = [...getValues(sorted, '-E --eval'), ...(isFed ? [stdin ?? ''] : [])]
  const isKnown = rules.every(isLiteral) && files.every((file) => !isStream(file) || isStandardInput(file))
  const lines = [...settings, ...rules.flatMap(listRecipes)]
  return {
    findings: [createFinding('mutating', BUILDS), ...(isKnown ? [] : createUnseenFindings('rules'))],
    runs: lines.map((line) => ({ maybe: line.replaceAll('$(shell ', '$(') })),
    paths: args.filter((arg) => !rules.includes(arg)),
  }
}

/** Returns the recipe lines that a shell runs, and the functions that make runs itself. */
function listRecipes(rules: string): string[] {
  return rules
    .split('\n')
    .map((line) => line.replace(/^[^\t;:=]*::?[^;=]*;|^\t/, '').replace(/^[\s@+-]+/, ''))
}

/** Settings of the project may be code, so a checker may run anything. */
const checker: ProgramClassifier = ({ args }) => ({
  ...createEffect('mutating', BUILDS),
  runs: findCarriedCommands(args),
})

/** `cmake -E env program` runs a program, and so may compiler launchers. */
const cmake: ProgramClassifier = (call) => {
  const { args } = call
  const launchers = args.flatMap(
    (arg) => arg.match(/^-D\w*(?:LAUNCHER|COMPILER)(?::\w+)?=(.*)$/s)?.slice(1) ?? [],
  )
  const runs: NestedCommand[] = launchers.map((maybe) => ({ maybe: maybe.replaceAll(';', ' ') }))
  if (args[0] === '-E' && /^(?:env|time)$/.test(args[1] ?? '')) runs.push({ argv: ['env', ...args.slice(2)] })
  // Words after `--` belong to the native build tool.
  if (args[0] === '--build' && args.includes('--')) {
    runs.push({ argv: ['make', ...args.slice(args.indexOf('--') + 1)] })
  }
  if (args[0] === '-E' && args[1] === 'chdir') runs.push({ argv: args.slice(3) })
  return { ...checker(call), runs }
}

const COMPILER_VALUES = toOptionSet('-wrapper -C --codegen')

/** Options may name programs to start: `-wrapper curl,x`, or a linker, `-C linker=x`. */
const compiler: ProgramClassifier = (call) => {
  const sorted = parseArguments(call.args, COMPILER_VALUES)
  const wrapped = getValues(sorted, '-wrapper').map((words): NestedCommand => ({ argv: words.split(',') }))
  const linkers = getValues(sorted, '-C --codegen').flatMap(
    (setting) => setting.match(/^linker=(.*)$/s)?.slice(1) ?? [],
  )
  return {
    ...createEffect('mutating', 'compiles'),
    runs: [...wrapped, ...linkers.map((linker): NestedCommand => ({ argv: [linker] }))],
  }
}

/** `//pkg:target` is a label, not a path. */
const bazel: ProgramClassifier = (call) => ({
  ...checker(call),
  paths: call.args.filter((arg) => !/^-?\/\//.test(arg)),
})

/** Programs that build, test and check a project. Its own files define the commands they run. */
export const build: ProgramTable = {
  ...createAliases('make gmake bmake remake', make),
  cmake,
  ...createAliases('bazel bazelisk buck buck2', bazel),
  ...createAliases(
    'ninja meson scons rake ant mvn mvnw gradle gradlew sbt lein just task invoke fab nox tox pytest unittest vitest jest mocha ava tap playwright cypress karma tsc tsgo esbuild swc rollup vite webpack parcel turbo nx lerna rush gulp grunt babel eslint prettier biome oxlint stylelint knip publint attw ruff black isort flake8 mypy pyright pylint bandit rubocop standardrb golangci-lint gofmt goimports staticcheck rustfmt clippy-driver clang-format clang-tidy cppcheck shellcheck shfmt hadolint markdownlint yamllint next nuxt astro remix svelte-kit storybook tailwindcss postcss sass lessc protoc buf flatc sqlc prisma drizzle-kit knex typeorm alembic django-admin flask rails uvicorn gunicorn celery ctest autoconf automake autoreconf aclocal configure libtool pkg-config swiftc xcodebuild dart flutter ghc cabal stack ocaml dune mkdocs sphinx-build hugo jekyll pandoc pdflatex latexmk dot convert magick ffmpeg ffprobe sqlite-utils pre-commit husky lint-staged commitlint changeset semantic-release concurrently nodemon wireit',
    checker,
  ),
  ...createAliases('gcc g++ cc c++ clang clang++ cpp rustc', compiler),
  ...createFixedPrograms(
    'ld as ar ranlib strip objcopy nasm yasm javac kotlinc tcc zig nvcc',
    'mutating',
    'compiles',
  ),
}
