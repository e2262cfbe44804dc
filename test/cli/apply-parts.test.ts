import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git } from '../support/git-repository.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('')
const itHere = it.skipIf(whyNoOverlay() !== undefined)

/** A project with forks that change it. */
class Project {
  readonly cli: Cli = new Cli()
  readonly files: string = this.cli.files

  write(path: string, content: string | Buffer): void {
    mkdirSync(dirname(join(this.files, path)), { recursive: true })
    writeFileSync(join(this.files, path), content)
  }

  read(path: string): string {
    return readFileSync(join(this.files, path), 'utf8')
  }

  has(path: string): boolean {
    return existsSync(join(this.files, path))
  }

  async fork(name: string, script: string, ...options: string[]): Promise<void> {
    const run = await this.cli.run(['exec', '--fork', name, ...options, '--', 'sh', '-c', script])
    expect(run.code, run.stderr).toBe(0)
  }

  /** Types a command that a message printed. */
  async type(message: string, start: string): Promise<void> {
    const line = message.split('\n').find((each) => each.includes(start))
    const command = line?.slice(line.indexOf('coppice ')).replace('coppice ', '') ?? ''
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    const run = await this.cli.run(words)
    expect(run.code, `${command}\n${run.stderr}`).toBe(0)
  }
}

describe('apply of some paths', () => {
  it('writes files and directories with what they need, and leaves the rest in the fork', async () => {
    const project = new Project()
    for (const name of ['a', 'b', 'c', 'old/x', 'old/y']) project.write(name, `${name}\n`)
    await project.fork('f', 'echo A >a; echo B >b; rm -r old c; mkdir -p n/m; echo x >n/m/x; echo y >n/y')
    expect(await project.cli.ok('apply', 'f', '--', 'a', 'n/m/x', 'old/x')).toContain(
      'wrote 5 changes of f to this directory; 5 changes stay in the fork',
    )
    expect([project.read('a'), project.read('b'), project.read('n/m/x')]).toEqual(['A\n', 'b\n', 'x\n'])
    expect(['n/y', 'c', 'old/x', 'old/y'].map((path) => project.has(path))).toEqual([
      false,
      true,
      false,
      true,
    ])
    await project.cli.ok('apply', 'f', '--undo')
    expect([project.read('a'), project.has('n'), project.read('old/x')]).toEqual(['a\n', false, 'old/x\n'])
    await project.cli.ok('apply', 'f', '--', 'n', '*b')
    expect([project.read('n/y'), project.read('b'), project.has('c')]).toEqual(['y\n', 'B\n', true])
    await project.cli.ok('apply', 'f', '--', ':!/c')
    expect([project.has('old'), project.has('c'), project.read('a')]).toEqual([false, true, 'A\n'])
    await project.cli.ok('apply')
    expect(project.has('c')).toBe(false)
  })

  it('refuses a path without a change, and one outside', async () => {
    const project = new Project()
    project.write('a', 'a\n')
    await project.fork('f', 'echo A > a; echo b > b')
    const unknown = await project.cli.run(['apply', 'f', '--', 'a', 'src'])
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("no change at 'src'") })
    const outside = await project.cli.run(['apply', 'f', '--', '../a'])
    expect(outside).toMatchObject({ code: 1, stderr: expect.stringContaining("'../a' is outside of") })
    expect([project.read('a'), project.has('b')]).toEqual(['a\n', false])
  })

  it('writes a directory in place of a file for the sake of a file in it', async () => {
    const project = new Project()
    project.write('d', 'a file\n')
    await project.fork('f', 'rm d; mkdir d; echo x > d/x; echo y > d/y')
    await project.cli.ok('apply', 'f', '--', 'd/x')
    expect([project.read('d/x'), project.has('d/y')]).toEqual(['x\n', false])
    await project.cli.ok('apply', 'f', '--undo')
    expect(project.read('d')).toBe('a file\n')
  })
})

describe('apply --merge', () => {
  it('keeps the permissions that each side changed', async () => {
    const project = new Project()
    project.write('run', LINES)
    chmodSync(join(project.files, 'run'), 0o644)
    await project.fork('f', 'chmod 755 run')
    chmodSync(join(project.files, 'run'), 0o600)
    await project.cli.ok('apply', 'f', '--merge')
    expect(statSync(join(project.files, 'run')).mode & 0o777).toBe(0o711)
    await project.cli.ok('apply', 'f', '--undo')
    expect(statSync(join(project.files, 'run')).mode & 0o777).toBe(0o600)
  })

  it('merges what both sides changed in different lines, and undoes to what was there', async () => {
    const project = new Project()
    project.write('a', LINES)
    project.write('mode', LINES)
    project.write('b', 'b\n')
    await project.fork('f', 'sed -i "s/line 2$/TWO/" a; chmod 755 mode; echo B > b')
    const mine = LINES.replace('line 19', 'NINETEEN')
    project.write('a', mine)
    project.write('mode', mine)
    const { code, stderr } = await project.cli.run(['apply', 'f'])
    expect([code, stderr]).toEqual([3, expect.stringContaining('C /a changed meanwhile')])
    expect(project.read('b')).toBe('b\n')
    await project.type(stderr, 'Merge them with')
    expect(project.read('a')).toBe(mine.replace('line 2\n', 'TWO\n'))
    expect(project.read('mode')).toBe(mine)
    expect(project.read('b')).toBe('B\n')
    expect(await project.cli.ok('diff', 'f')).toBe('')
    await project.cli.ok('apply', 'f', '--undo')
    expect([project.read('a'), project.read('mode'), project.read('b')]).toEqual([mine, mine, 'b\n'])
    expect(await project.cli.ok('diff', 'f', '--stat')).toContain('M /a  +1 -1')
  })

  it.each(['in a repository', 'outside of a repository'])('prints hints that work, %s', async (where) => {
    const project = new Project()
    if (where === 'in a repository') git(['init', '-q', project.files])
    for (const name of ['a b', "it's", 'c']) project.write(name, LINES)
    await project.fork('f', 'for name in "a b" "it\'s"; do sed -i "s/line 2$/TWO/" "$name"; done; echo C > c')
    for (const name of ['a b', "it's"]) project.write(name, LINES.replace('line 2\n', 'ZWEI\n'))
    const plain = await project.cli.run(['apply', 'f'])
    await project.type(plain.stderr.replaceAll(`'\\''`, '’'), 'Look at')
    const { code, stderr } = await project.cli.run(['apply', 'f', '--merge'])
    expect([code, stderr]).toEqual([3, expect.stringContaining('C /a b has other changes in the same lines')])
    expect([project.read('c'), project.read('a b')]).toEqual([LINES, LINES.replace('line 2\n', 'ZWEI\n')])
    await project.type(stderr, 'markers with')
    expect(project.read('a b')).toContain(
      'line 1\n<<<<<<< this directory\nZWEI\n=======\nTWO\n>>>>>>> f\nline 3\n',
    )
    expect(project.read('c')).toBe('C\n')
    await project.cli.ok('apply', 'f', '--undo')
    expect(project.read("it's")).toBe(LINES.replace('line 2\n', 'ZWEI\n'))
  })

  it('leaves conflicts out with the printed command', async () => {
    const project = new Project()
    for (const name of ['a b', 'c']) project.write(name, LINES)
    await project.fork('f', 'sed -i s/2/TWO/ "a b"; echo C > c')
    project.write('a b', 'mine\n')
    const { stderr } = await project.cli.run(['apply', 'f'])
    await project.type(stderr, 'Leave these files out with')
    expect([project.read('a b'), project.read('c')]).toEqual(['mine\n', 'C\n'])
    expect(await project.cli.ok('diff', 'f', '--stat')).toContain('/a b')
  })

  it('leaves a directory out as a whole that is a file in the fork', async () => {
    const project = new Project()
    for (const name of ['d/x', 'a', 'b']) project.write(name, `${name}\n`)
    await project.fork('f', 'rm -r d; echo file > d; echo A > a; echo B > b')
    project.write('d/x', 'mine\n')
    project.write('a', 'mine\n')
    const { stderr } = await project.cli.run(['apply', 'f'])
    await project.type(stderr, 'Leave these files out with')
    expect(['d/x', 'a', 'b'].map((path) => project.read(path))).toEqual(['mine\n', 'mine\n', 'B\n'])
  })

  it('keeps both sides of a removal, of binary files and of links, with --markers alone', async () => {
    const project = new Project()
    for (const name of ['gone-here', 'gone-there', 'd/x']) project.write(name, `${name}\n`)
    project.write('binary', Buffer.from([0, 1]))
    symlinkSync('one', join(project.files, 'link'))
    await project.fork(
      'f',
      'echo F >> gone-here; rm -r gone-there d; printf "\\0\\2" > binary; ln -sfn two link; mkdir e; echo new > e/x',
    )
    rmSync(join(project.files, 'gone-here'))
    project.write('gone-there', 'changed\n')
    project.write('d/mine', 'mine\n')
    project.write('binary', Buffer.from([0, 3]))
    rmSync(join(project.files, 'link'))
    symlinkSync('three', join(project.files, 'link'))
    const { stderr } = await project.cli.run(['apply', 'f', '--merge'])
    expect(stderr).toContain('C /gone-here was removed here, and changed in the fork')
    expect(stderr).toContain('C /gone-there changed here, and was removed in the fork')
    expect(stderr).toContain('C /binary is no text')
    expect(stderr).not.toContain('/d')
    const { code, stdout } = await project.cli.run(['apply', 'f', '--markers', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      unresolved: expect.arrayContaining(['/binary', '/binary~f', '/gone-here', '/gone-there', '/link']),
    })
    expect(project.read('gone-here')).toBe('gone-here\nF\n')
    expect(project.read('gone-there')).toBe('changed\n')
    expect([...readFileSync(join(project.files, 'binary'))]).toEqual([0, 3])
    expect([...readFileSync(join(project.files, 'binary~f'))]).toEqual([0, 2])
    expect([project.has('d/x'), project.read('d/mine')]).toEqual([false, 'mine\n'])
    await project.cli.ok('apply', 'f', '--undo')
    expect([
      project.has('gone-here'),
      project.has('binary~f'),
      project.has('e'),
      project.read('d/x'),
    ]).toEqual([...[false, false, false, 'd/x\n']])
  })

  it('creates a directory again that was removed here, and refuses one that is a file now', async () => {
    const project = new Project()
    for (const name of ['d/x', 'e/x']) project.write(name, 'x\n')
    await project.fork('f', 'echo new > d/new; echo new > e/new')
    for (const name of ['d', 'e']) rmSync(join(project.files, name), { recursive: true })
    const plain = await project.cli.run(['apply', 'f'])
    expect(plain).toMatchObject({ code: 3, stderr: expect.stringContaining('C /d was removed meanwhile') })
    project.write('e', 'a file\n')
    const merged = await project.cli.run(['apply', 'f', '--merge'])
    expect(merged).toMatchObject({ code: 3, stderr: expect.stringContaining('C /e') })
    await project.type(merged.stderr, 'Leave these files out with')
    expect([project.read('d/new'), project.read('e')]).toEqual(['new\n', 'a file\n'])
    await project.cli.ok('apply', 'f', '--undo')
    expect(project.has('d')).toBe(false)
  })
})

describe('apply of several forks', () => {
  it('writes and undoes them as one act', async () => {
    const project = new Project()
    for (const name of ['a', 'b']) project.write(name, LINES)
    await project.fork('f1', 'sed -i "s/line 2$/TWO/" a; echo one > one')
    await project.fork('f2', 'sed -i "s/line 19$/NINETEEN/" a; echo B > b')
    const apart = await project.cli.run(['apply', 'f1', 'f2'])
    const reason = 'f1 and f2 have different changes\n  C /a changes in f1 too\n'
    expect(apart).toMatchObject({ code: 3, stderr: expect.stringContaining(reason) })
    expect(project.has('one')).toBe(false)
    await project.type(apart.stderr, 'Merge them with')
    const both = LINES.replace('line 2\n', 'TWO\n').replace('line 19', 'NINETEEN')
    expect([project.read('a'), project.read('b'), project.read('one')]).toEqual([both, 'B\n', 'one\n'])
    await project.fork('f3', 'echo three > three')
    expect(await project.cli.run(['apply', '--undo', 'f1', 'f2', 'f3'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('f1 and f3 were not applied together'),
    })
    expect(await project.cli.ok('apply', '--undo', 'f2')).toContain('of f1 and f2; the forks still have them')
    expect([project.read('a'), project.read('b'), project.has('one')]).toEqual([LINES, LINES, false])
    await project.cli.ok('apply', 'f2', 'f1', '--merge')
    expect(project.read('a')).toBe(both)
  })

  it('undoes the one that was applied, if the one used last was not, and asks which of several', async () => {
    const project = new Project()
    for (const name of ['a', 'b', 'c']) await project.fork(name, `echo ${name} > ${name}.txt`)
    await project.cli.ok('apply', 'a')
    expect(await project.cli.ok('apply', '--undo')).toContain('undid 1 change of a')
    expect(project.has('a.txt')).toBe(false)
    for (const name of ['a', 'b']) await project.cli.ok('apply', name)
    const asked = await project.cli.run(['apply', '--undo'])
    expect(asked.code).toBe(1)
    expect(asked.stderr).toMatch(/several forks were applied: (?:a, b|b, a); name the one to undo/)
    expect(project.has('a.txt') && project.has('b.txt')).toBe(true)
  })

  it('says why it cannot undo them after one was applied again', async () => {
    const project = new Project()
    project.write('a', 'a\n')
    await project.fork('f1', 'echo 1 > one')
    await project.fork('f2', 'echo 2 > two')
    await project.cli.ok('apply', 'f1', 'f2')
    await project.fork('f2', 'echo 3 > three')
    await project.cli.ok('apply', 'f2')
    const { code, stderr } = await project.cli.run(['apply', 'f1', '--undo'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('applied together with f2')])
    await project.cli.ok('apply', 'f2', '--undo')
    expect([project.has('three'), project.has('two')]).toEqual([false, true])
  })
})

describe('masked secrets in a part of a fork', () => {
  const ENV = 'API_KEY=real-key-1\nPORT=3000\n\n\nLAST=9\n'

  itHere('keep their values with --merge and --markers', async () => {
    const project = new Project()
    project.write('.env', ENV)
    await project.fork('f', 'sed -i s/3000/4000/ .env', '--mask')
    project.write('.env', ENV.replace('real-key-1', 'real-key-2').replace('9', '10'))
    await project.cli.ok('apply', 'f', '--merge')
    expect(project.read('.env')).toBe('API_KEY=real-key-2\nPORT=4000\n\n\nLAST=10\n')
    await project.cli.ok('apply', 'f', '--undo')
    expect(project.read('.env')).toBe('API_KEY=real-key-2\nPORT=3000\n\n\nLAST=10\n')
    project.write('.env', ENV.replace('3000', '5000'))
    const run = await project.cli.run(['apply', 'f', '--markers'])
    expect(run.code, run.stderr).toBe(0)
    expect(project.read('.env')).toMatch(/<<<<<<< this directory\nAPI_KEY=real-key-1\nPORT=5000\n|PORT=5000/)
    expect(project.read('.env')).not.toContain('coppice-secret')
    await project.cli.ok('apply', 'f', '--undo')
    expect(project.read('.env')).toBe(ENV.replace('3000', '5000'))
  })

  itHere('follow a renamed file, also if its two names are applied one by one', async () => {
    const project = new Project()
    project.write('.env', ENV)
    await project.fork('f', 'mv .env .env.local; mv .env.local .env.prod; echo x > x', '--mask')
    await project.cli.ok('apply', 'f', '--', '.env.prod')
    expect([project.read('.env.prod'), project.read('.env')]).toEqual([ENV, ENV])
    await project.cli.ok('apply', 'f', '--', '.env')
    expect([project.read('.env.prod'), project.has('.env')]).toEqual([ENV, false])
    await project.cli.ok('apply', 'f', '--undo')
    expect(project.read('.env')).toBe(ENV)
  })

  itHere('are not lost if only the removal of a copied file is applied', async () => {
    const project = new Project()
    project.write('.env', ENV)
    await project.fork('f', 'mv .env notes.txt', '--mask')
    const { code, stderr } = await project.cli.run(['apply', 'f', '--', '.env'])
    expect([code, stderr]).toEqual([3, expect.stringContaining('has values that its copy /notes.txt lacks')])
    expect(project.read('.env')).toBe(ENV)
  })

  itHere('of two forks are merged in order', async () => {
    const project = new Project()
    project.write('.env', ENV)
    chmodSync(join(project.files, '.env'), 0o600)
    await project.fork('f1', 'sed -i s/3000/4000/ .env', '--mask')
    await project.fork('f2', 'sed -i s/LAST=9/LAST=10/ .env', '--mask')
    await project.cli.ok('apply', 'f1', 'f2', '--merge')
    expect(project.read('.env')).toBe(ENV.replace('3000', '4000').replace('=9', '=10'))
    await project.cli.ok('apply', 'f1', '--undo')
    expect(project.read('.env')).toBe(ENV)
  })
})
