import { isLiteral } from '../shell/unknown.ts'
import { carried } from './carried.ts'
import { hasOption, sortOut, valued, valuesOf } from './options.ts'
import {
  always,
  effect,
  finding,
  type Nested,
  named,
  type Program,
  type Programs,
  READS,
  unseen,
} from './program.ts'

const BUILDS = 'runs what the project says'

const MAKE_VALUES = valued('-f --file --makefile -C --directory -I --include-dir -E --eval -o --old-file -W')

/** `make CC='curl x'`: a variable is part of what it runs, and so are rules that it is given instead of a file. */
const make: Program = ({ args, stdin }) => {
  const sorted = sortOut(args, MAKE_VALUES)
  if (hasOption(sorted, '--version -v --help')) return READS
  const settings = args.flatMap(
    (arg) => arg.match(/^[A-Za-z_.][\w.-]*(?::{1,3}|[+?!])?=(.*)$/s)?.slice(1) ?? [],
  )
  const files = valuesOf(sorted, '-f --file --makefile')
  const isFed = files.some((file) => /^(?:-|\/dev\/.*)$/.test(file))
  const rules = [...valuesOf(sorted, '-E --eval'), ...(isFed ? [stdin ?? ''] : [])]
  const isKnown = rules.every(isLiteral) && !files.some((file) => /^\/dev\/fd\/[1-9]/.test(file))
  const lines = [...settings, ...rules.flatMap(recipesIn)]
  return {
    findings: [finding('mutating', BUILDS), ...(isKnown ? [] : unseen('rules'))],
    runs: lines.map((line) => ({ maybe: line.replaceAll('$(shell ', '$(') })),
    paths: args.filter((arg) => !rules.includes(arg)),
  }
}

/** The lines of rules that a shell gets, and those that make expands itself. */
function recipesIn(rules: string): string[] {
  return rules
    .split('\n')
    .map((line) => line.replace(/^[^\t;:=]*::?[^;=]*;|^\t/, '').replace(/^[\s@+-]+/, ''))
}

/** What the project says may be anything, also where a checker is only to look: its settings may be code. */
const checker: Program = ({ args }) => ({ ...effect('mutating', BUILDS), runs: carried(args) })

/** `cmake -E env program` runs a program, and so may what compilers are started by. */
const cmake: Program = (call) => {
  const { args } = call
  const launchers = args.flatMap(
    (arg) => arg.match(/^-D\w*(?:LAUNCHER|COMPILER)(?::\w+)?=(.*)$/s)?.slice(1) ?? [],
  )
  const runs: Nested[] = launchers.map((maybe) => ({ maybe: maybe.replaceAll(';', ' ') }))
  if (args[0] === '-E' && /^(?:env|time)$/.test(args[1] ?? '')) runs.push({ argv: ['env', ...args.slice(2)] })
  // What comes after belongs to the program that builds.
  if (args[0] === '--build' && args.includes('--')) {
    runs.push({ argv: ['make', ...args.slice(args.indexOf('--') + 1)] })
  }
  if (args[0] === '-E' && args[1] === 'chdir') runs.push({ argv: args.slice(3) })
  return { ...checker(call), runs }
}

const COMPILER_VALUES = valued('-wrapper -C --codegen')

/** Some are told by which program to start their own, `-wrapper curl,x`, or which one links, `-C linker=x`. */
const compiler: Program = (call) => {
  const sorted = sortOut(call.args, COMPILER_VALUES)
  if (hasOption(sorted, '--version --help') && sorted.operands.length === 0) return READS
  const wrapped = valuesOf(sorted, '-wrapper').map((words): Nested => ({ argv: words.split(',') }))
  const linkers = valuesOf(sorted, '-C --codegen').flatMap(
    (one) => one.match(/^linker=(.*)$/s)?.slice(1) ?? [],
  )
  return {
    ...effect('mutating', 'compiles'),
    runs: [...wrapped, ...linkers.map((linker): Nested => ({ argv: [linker] }))],
  }
}

/** `//pkg:target` is a label. */
const bazel: Program = (call) => ({
  ...checker(call),
  paths: call.args.filter((arg) => !/^-?\/\//.test(arg)),
})

/** Programs that build, test and check a project. Its own files say what they run. */
export const build: Programs = {
  ...named('make gmake bmake remake', make),
  cmake,
  ...named('bazel bazelisk buck buck2', bazel),
  ...named(
    'ninja meson scons rake ant mvn mvnw gradle gradlew sbt lein just task invoke fab nox tox pytest unittest vitest jest mocha ava tap playwright cypress karma tsc tsgo esbuild swc rollup vite webpack parcel turbo nx lerna rush gulp grunt babel eslint prettier biome oxlint stylelint knip publint attw ruff black isort flake8 mypy pyright pylint bandit rubocop standardrb golangci-lint gofmt goimports staticcheck rustfmt clippy-driver clang-format clang-tidy cppcheck shellcheck shfmt hadolint markdownlint yamllint next nuxt astro remix svelte-kit storybook tailwindcss postcss sass lessc protoc buf flatc sqlc prisma drizzle-kit knex typeorm alembic django-admin flask rails uvicorn gunicorn celery ctest autoconf automake autoreconf aclocal configure libtool pkg-config swiftc xcodebuild dart flutter ghc cabal stack ocaml dune mkdocs sphinx-build hugo jekyll pandoc pdflatex latexmk dot convert magick ffmpeg ffprobe sqlite-utils pre-commit husky lint-staged commitlint changeset semantic-release concurrently nodemon wireit',
    checker,
  ),
  ...named('gcc g++ cc c++ clang clang++ cpp rustc', compiler),
  ...always('ld as ar ranlib strip objcopy nasm yasm javac kotlinc tcc zig nvcc', 'mutating', 'compiles'),
}
