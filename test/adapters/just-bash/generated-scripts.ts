import type { Script } from './script-table.ts'

/** Returns numbers below a bound, deterministic for a seed. */
type Dice = (bound: number) => number

/** Generates random scripts over the initial files, deterministic for a seed. */
export function generatedScripts(count: number, seed: number): Script[] {
  return Array.from({ length: count }, (_, index) => {
    const dice = diceOf(seed + index)
    const lines = Array.from({ length: 3 + dice(8) }, () => statement(dice))
    return { name: `generated: ${seed + index}`, text: `${lines.join('\n')}\necho "rc $?"\n` }
  })
}

const names = ['a.txt', 'b.txt', 'new', 'dir/c.md', 'dir/new', 'dir/sub/d.txt', 'deep/er/x', 'e f', 'other']
const directories = ['dir', 'dir/sub', 'made', 'dir/made', 'deep', 'deep/er']
const globs = ['*', '*.txt', 'dir/*', '*/*', '[a-m]*', 'dir/*/*.txt', '?.txt']
const modes = ['600', '644', '755', 'u+x', 'go-r', 'a=r', '0700', 'u=rwx,g=rx']
const filters = [
  'sort',
  'sort -r',
  'wc -l',
  'head -2',
  'tail -1',
  'tr a-z A-Z',
  'sed s/a/b/',
  'grep -c a',
  'cut -c1-3',
  'uniq',
]

type Production = (dice: Dice) => string

/** Possible lines of a script. Links are covered by the tables, because InMemoryFs handles them differently. */
const productions: readonly Production[] = [
  (dice) => `echo ${word(dice)} > ${name(dice)}`,
  (dice) => `echo ${word(dice)} >> ${name(dice)}`,
  (dice) => `cat ${name(dice)} ${name(dice)} | ${pick(dice, filters)}`,
  (dice) => `cat ${name(dice)} | ${pick(dice, filters)} > ${name(dice)}.out`,
  (dice) => `mkdir -p ${directory(dice)}`,
  (dice) => `mkdir ${directory(dice)}`,
  (dice) => `cp ${name(dice)} ${name(dice)}`,
  (dice) => `cp -r ${directory(dice)} copy${dice(3)}`,
  (dice) => `mv ${name(dice)} ${name(dice)}.moved`,
  (dice) => `rm -f ${name(dice)}`,
  (dice) => `rm ${name(dice)}`,
  (dice) => `rmdir ${directory(dice)}`,
  (dice) => `chmod ${pick(dice, modes)} ${name(dice)}`,
  (dice) => `touch -d 20${10 + dice(9)}-01-0${1 + dice(9)}T00:00:00Z ${name(dice)}`,
  (dice) => `stat -c '%a %s %F %n' ${name(dice)}`,
  (dice) => `for f in ${pick(dice, globs)}; do echo "$f"; done`,
  (dice) => `find ${directory(dice)} -type f | sort | ${pick(dice, filters)}`,
  (dice) => `[ -${pick(dice, ['e', 'f', 'd', 's', 'x', 'r'])} ${name(dice)} ] && echo yes || echo no`,
  (dice) => `ls -F ${directory(dice)}`,
  (dice) => `sed -i 's/${pick(dice, ['a', 'e', '^', '$'])}/${dice(10)}/' ${name(dice)}`,
  (dice) => `(cd ${directory(dice)} && pwd && ls)`,
  (dice) => `x=$(cat ${name(dice)} | wc -c); echo "$((x + ${dice(5)}))"`,
  (dice) => `tee ${name(dice)} < ${name(dice)} | ${pick(dice, filters)}`,
  (dice) => `cat > ${name(dice)} <<EOF\n${word(dice)}\n$(ls ${directory(dice)})\nEOF`,
  (dice) => `tar cf t.tar ${directory(dice)} && tar tf t.tar | sort`,
  (dice) => `awk '{ print NR, $1 }' ${name(dice)}`,
  (dice) => `grep -r ${word(dice)} ${directory(dice)} | sort`,
  (dice) => `cmp ${name(dice)} ${name(dice)} && echo same`,
]

function statement(dice: Dice): string {
  return pick(dice, productions)(dice)
}

function name(dice: Dice): string {
  return `'${pick(dice, names)}'`
}

function directory(dice: Dice): string {
  return pick(dice, directories)
}

function word(dice: Dice): string {
  return pick(dice, ['alpha', 'banana', 'x', '"two words"', "'$HOME'", '$((6 * 7))'])
}

function pick<T>(dice: Dice, choices: readonly T[]): T {
  const choice = choices[dice(choices.length)]
  if (choice === undefined) throw new RangeError('nothing to choose from')
  return choice
}

/** A multiplicative generator; its high bits are well distributed. */
function diceOf(seed: number): Dice {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return (bound) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39) + 0x3c6ef372
    return ((state ^ (state >>> 15)) >>> 0) % bound
  }
}
