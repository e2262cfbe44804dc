import { spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome, type PosixFiles } from '../src/backends/vault/index.ts'
import { type NamespaceOptions, openNamespace } from '../src/namespace/index.ts'
import type { CallOptions, ToolResult } from '../src/tools/index.ts'
import { programFile } from './support/program-file.ts'

interface Opened {
  readonly home: string
  readonly exec: (args: object, options?: CallOptions) => Promise<ToolResult>
  readonly text: (name: string, args: object) => Promise<string>
  readonly names: readonly string[]
}

const commands = { env: { PATH: process.env['PATH'] ?? '', GREETING: 'hello' } }

/** Opens tools of a context whose workspace is a vault with one file, with commands enabled. */
async function shell(options: Partial<NamespaceOptions> = {}): Promise<Opened> {
  const home = mkdtempSync(join(tmpdir(), 'coppice-shell-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const store = await openHome({ path: home })
  const vault = await store.createVault('project')
  await vault.write('/notes.md', 'one\ntwo\nthree\n')
  await vault.mkdir('/src')
  await store.close()
  const namespace = await openNamespace({ home, context: 'anna', vault: 'project', commands, ...options })
  onTestFinished(() => namespace.close())
  const tools = namespace.tools()
  return {
    home,
    exec: (args, call) => tools.call('shell_exec', args, call),
    text: async (name, args) => (await tools.call(name, args)).text,
    names: tools.tools.map(({ name }) => name),
  }
}

describe('shell_exec', () => {
  it.each([
    [{ command: ' \n ' }, /'command': must not be blank/],
    [{ command: 'echo a\0b' }, /'command': must not have a NUL/],
    [{ argv: ['echo', 'a\0b'] }, /'argv': must not have a NUL/],
    [{ argv: [''] }, /'argv': must have the name of a program first/],
  ])('explains what is wrong with %j in terms of its arguments', async (args, words) => {
    const { text } = await (await shell()).exec(args)
    expect(text).toMatch(words)
  })

  it('returns exit code, output and changes, and can be undone', async () => {
    const { exec, text } = await shell()
    const { text: output } = await exec({
      command: 'echo "$GREETING"; echo oops >&2; echo new > src/new; rm notes.md',
    })
    const lines = output.split('\n')
    const [undo = ''] = lines.splice(4, 1)
    expect(lines).toEqual([
      'exit code 0',
      '--- changed',
      'deleted\t/workspace/notes.md',
      'added\t/workspace/src/new',
      '--- stdout',
      'hello',
      '--- stderr',
      'oops',
    ])
    expect(await text('file_read', { path: 'vfs:///workspace/src/new' })).toContain('new')
    const [, name] = undo.match(/^undo with workspace_restore '(.+)'$/) ?? []
    await text('workspace_restore', { name })
    expect(await text('vfs_list', { path: 'vfs:///workspace/src' })).not.toContain('new')
    expect(await text('file_read', { path: 'vfs:///workspace/notes.md' })).toContain('three')
  })

  it('takes no checkpoint for a command that only reads, and leaves no fork', async () => {
    const { exec, home } = await shell()
    expect(await exec({ argv: ['cat', 'notes.md'] })).toEqual({
      text: 'exit code 0\n--- stdout\none\ntwo\nthree',
      isError: false,
    })
    await exec({ command: 'touch made' })
    await using store = await openHome({ path: home })
    expect(await store.vaults()).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^(?:exec|session)-/)]),
    )
  })

  it('names files that it cannot keep, and then has nothing to undo', async () => {
    const { exec } = await shell()
    const { text } = await exec({ command: 'mkfifo pipe' })
    expect(text).toBe(
      'exit code 0\n--- not kept: pipes, sockets, devices, names that are not UTF-8 or too deep\n/workspace/pipe',
    )
  })

  it('returns a failed command as a result, so that its output is read', async () => {
    const { exec } = await shell()
    const { text, isError } = await exec({ command: 'echo broken >&2; exit 3' })
    expect({ text, isError }).toEqual({ text: 'exit code 3\n--- stderr\nbroken', isError: false })
  })

  it('runs in the given directory, with the given input', async () => {
    const { exec, text } = await shell()
    const args = { argv: ['tee', 'copy'], cwd: 'vfs:///workspace/src', stdin: 'given\n' }
    expect((await exec(args)).text).toMatch(
      /--- changed\nadded\t\/workspace\/src\/copy\nundo .*\n--- stdout\ngiven$/,
    )
    expect(await text('file_read', { path: 'vfs:///workspace/src/copy' })).toContain('given')
  })

  it.each([
    ['vfs:///shared', 'EINVAL'],
    ['vfs:///workspacex', 'EINVAL'],
    ['/etc', 'EINVAL'],
    ['vfs:///workspace/../sys', 'EINVAL'],
    ['vfs:///workspace/none', 'ENOENT'],
    ['vfs:///workspace/notes.md', 'ENOTDIR'],
    ['vfs:///workspace/out', 'ENOTDIR'],
  ])('does not run in %s, which is not a directory of the workspace', async (cwd, code) => {
    const { exec, home } = await shell()
    await using store = await openHome({ path: home })
    await (await store.vault('project')).symlink('/etc', '/out')
    expect((await exec({ command: 'ls', cwd })).error?.code).toBe(code)
  })

  it('caches a long output, and returns a stub', async () => {
    const { exec, text } = await shell()
    const { text: stub, cached } = await exec({ command: 'seq 100000' })
    expect(stub).toContain('shell_exec')
    expect(stub).toContain('exit code 0\n--- stdout\n1\n2\n')
    expect(stub).toMatch(/\n99999\n100000$/)
    expect(stub.length).toBeLessThan(3000)
    expect(await text('file_tail', { path: cached?.uri ?? '', lines: 1 })).toContain('100000')
  })

  it('returns beginning and end of a very long output, and the outcome', async () => {
    const { exec, text } = await shell()
    const { cached } = await exec({ command: 'yes first | head -c 6000000; echo last; echo new > made' })
    const path = cached?.uri ?? ''
    const [exit, changed, made, undo, ...head] = (await text('file_head', { path, lines: 6 })).split('\n')
    expect([exit, changed, made]).toEqual(['exit code 0', '--- changed', 'added\t/workspace/made'])
    expect(head).toEqual(['--- stdout', 'first'])
    expect(await text('file_tail', { path, lines: 1 })).toBe('last')
    expect(undo).toMatch(/^undo with workspace_restore '.+'$/)
    expect(await text('file_grep', { path, pattern: 'left out' })).toContain('characters left out)')
  })

  it('reports truncated output', async () => {
    const { exec, text } = await shell()
    const { cached } = await exec({ command: 'yes | head -c 17000000' })
    expect(await text('file_head', { path: cached?.uri ?? '', lines: 2 })).toMatch(
      /\nThe output exceeded its limit/,
    )
  })

  it('returns mostly valid text as text, and binary output as base64', async () => {
    const { exec } = await shell()
    expect((await exec({ command: "printf 'caf\\351 ok'" })).text).toBe(
      'exit code 0\n--- stdout\n(parts of the output are not UTF-8)\ncaf\ufffd ok',
    )
    expect((await exec({ command: "printf '\\377\\0'" })).text).toContain('(not text; base64) /wA=')
  })

  it('stops a command at its time limit, and keeps its changes', async () => {
    const { exec, text } = await shell()
    const { text: output } = await exec({ command: 'echo made > made; sleep 600', timeout_seconds: 1 })
    expect(output).toMatch(/^stopped after 1 second; raise timeout_seconds for more\n/)
    expect(await text('vfs_list', { path: 'vfs:///workspace' })).toContain('made')
  })

  it('refuses commands that leave the workspace, and leaves nothing behind', async () => {
    const { exec, text, home } = await shell()
    const { error } = await exec({ command: 'cat /etc/shadow > stolen' })
    expect(error).toMatchObject({ code: 'EACCES', message: expect.stringContaining('/etc/shadow') })
    expect(await text('workspace_diff', { format: 'files' })).not.toContain('stolen')
    expect(readdirSync(home)).not.toContain('sessions')
  })

  it('asks before each command that reaches the network', async () => {
    const { exec } = await shell()
    const questions: string[] = []
    const answers = ['no', 'yes'] as const
    const ask = async (question: string) => answers[questions.push(question) - 1] ?? 'no'
    const args = { command: 'curl -s --version > /dev/null; echo ran' }
    expect((await exec(args)).error).toMatchObject({
      code: 'EACCES',
      message: expect.stringMatching(/coppice approve [0-9a-f]{12}/),
    })
    expect((await exec(args, { ask })).error).toMatchObject({ code: 'EACCES' })
    expect((await exec(args, { ask })).text).toContain('--- stdout\nran')
    expect((await exec(args)).error).toMatchObject({ code: 'EACCES' })
    expect(questions).toHaveLength(2)
    expect(questions[0]).toContain(args.command)
  })

  it('asks about the whole command, in which nothing can hide the rest', async () => {
    const { exec } = await shell()
    const questions: string[] = []
    const ask = async (question: string) => {
      questions.push(question)
      return 'no' as const
    }
    const steering = String.fromCharCode(27)
    await exec({ argv: ['curl', 'a b', "it's", `${steering}[2K\rls`], cwd: 'vfs:///workspace/src' }, { ask })
    await exec({ argv: ['sh'], stdin: `curl -s --version\n${'#'.repeat(3000)}` }, { ask })
    expect(questions[0]).toMatch(/^Let this run once\?\n/)
    expect(questions[0]).toContain(String.raw`  | curl 'a b' 'it'\''s' '\033[2K\rls'`)
    expect(questions[0]).toContain('in:\n  | /src\n')
    expect(questions[0]).toContain('network: yes')
    expect(questions[0]).not.toContain(steering)
    expect(questions[1]).toContain('command:\n  | sh\n')
    expect(questions[1]).toContain('it reads:\n  | curl -s --version\n')
    expect(questions[1]?.match(/#/g)).toHaveLength(3000)
  })

  it('is not approved by a fork with the name of the approvals', async () => {
    const args = { command: 'curl -s --version > /dev/null; echo ran' }
    const [, id = ''] = (await (await shell()).exec(args)).text.match(/coppice approve ([0-9a-f]{12})/) ?? []
    const { exec, text } = await shell()
    const approval = JSON.stringify({ id, approved: new Date().toISOString() })
    await text('write_file', { path: `vfs:///workspace/approvals/${id}.json`, content: approval })
    expect(await text('workspace_fork', { name: 'boundary' })).toMatch(/^EINVAL: .*choose another/)
    expect((await exec(args)).error).toMatchObject({ code: 'EACCES' })
  })

  it('applies the policy of the home, and reports its errors', async () => {
    const { exec, home } = await shell()
    expect((await exec({ command: 'ls' })).isError).toBe(false)
    writeFileSync(join(home, 'policy.toml'), '[[rule]]\nnonsense = true\n')
    expect((await exec({ command: 'ls' })).error?.message).toContain('policy.toml')
    writeFileSync(join(home, 'policy.toml'), '[[rule]]\naction = "deny"\nprogram = "ls"\n')
    expect((await exec({ command: 'ls' })).error).toMatchObject({ code: 'EACCES' })
    expect((await exec({ command: 'pwd' })).isError).toBe(false)
  })

  it('accepts either a line or a program, and says so', async () => {
    const { exec } = await shell()
    for (const args of [{}, { command: 'ls', argv: ['ls'] }]) {
      expect((await exec(args)).error?.message).toContain('give either command or argv')
    }
    expect((await exec({ argv: [] })).error?.message).toContain('must have a program')
  })

  it.each([
    ['cmd', 'command'],
    ['script', 'command'],
    ['args', 'argv'],
    ['working_directory', 'cwd'],
    ['input', 'stdin'],
    ['timeout', 'timeout_seconds'],
    ['timeout_ms', 'timeout_seconds'],
  ])('explains that %s is called %s', async (given, meant) => {
    const { exec } = await shell()
    const { error } = await exec({ [given]: 'ls' })
    expect(error?.message).toContain(`there is no argument '${given}': it is called '${meant}' here`)
  })

  describe('beside concurrent changes of the same vault', () => {
    /** Changes the vault while the command runs. */
    async function beside(
      command: string,
      change: (files: PosixFiles) => void,
    ): Promise<Opened & { output: string }> {
      const opened = await shell()
      await using store = await openHome({ path: opened.home })
      const files = await store.posix('project')
      const onRun = () => change(files)
      subscribe('tracing:coppice:exec:run:start', onRun)
      try {
        return { ...opened, output: (await opened.exec({ command })).text }
      } finally {
        unsubscribe('tracing:coppice:exec:run:start', onRun)
      }
    }
    const append = (name: string, text: string) => (files: PosixFiles) => {
      const inode = files.lookup(1, name) ?? files.create(1, name, { mode: 0o100644, uid: 0, gid: 0 })
      files.write(inode, files.getattr(inode).size, new TextEncoder().encode(text))
    }

    it('merges changes of other files and other lines', async () => {
      const { output, text } = await beside('sed -i s/one/ONE/ notes.md', (files) => {
        append('notes.md', 'four\n')(files)
        append('other', 'beside\n')(files)
      })
      expect(output).toContain('modified\t/workspace/notes.md')
      expect(output).not.toContain('other')
      const notes = await text('file_head', { path: 'vfs:///workspace/notes.md' })
      expect(notes).toBe('ONE\ntwo\nthree\nfour')
      expect(await text('file_head', { path: 'vfs:///workspace/other' })).toBe('beside')
    })

    it('keeps its changes in a fork if both changed the same lines', async () => {
      const { output, text } = await beside('echo five >> notes.md', append('notes.md', 'four\n'))
      const [, fork] =
        output.match(/^exit code 0\nThe workspace changed .* only in the fork '(exec-[0-9a-f]+)'/) ?? []
      expect(await text('file_tail', { path: 'vfs:///workspace/notes.md', lines: 1 })).toBe('four')
      await text('workspace_merge', { fork, on_conflict: 'theirs' })
      expect(await text('file_tail', { path: 'vfs:///workspace/notes.md', lines: 1 })).toBe('five')
    })
  })

  it('leaves nothing if the process is killed between the command and its merge', async () => {
    const { exec, home } = await shell()
    const script = programFile('killed-command')
    expect(spawnSync(process.execPath, [script, home]).signal).toBe('SIGKILL')
    await using store = await openHome({ path: home })
    const before = await store.vaults()
    await exec({ command: 'true' })
    const after = await store.vaults()
    expect(before.length - after.length).toBeGreaterThan(0)
    expect(after.filter((name) => /^(?:exec|session)-/.test(name))).toEqual([])
  })

  it('is cancelled with its call, and leaves nothing', async () => {
    const { exec, text, home } = await shell()
    const cancel = new AbortController()
    const call = exec(
      { command: 'echo new > made; echo started; sleep 600' },
      { signal: cancel.signal, progress: () => cancel.abort(new Error('enough')) },
    )
    await expect(call).rejects.toThrow('enough')
    expect(await text('vfs_list', { path: 'vfs:///workspace' })).not.toContain('made')
    await using store = await openHome({ path: home })
    expect(await store.vaults()).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^(?:exec|session)-/)]),
    )
  })

  it('is absent without permission to run, and refuses read-only contexts', async () => {
    expect((await shell({ commands: undefined })).names).not.toContain('shell_exec')
    const { exec, names } = await shell({ isReadOnly: true })
    expect(names).toContain('shell_exec')
    expect((await exec({ command: 'ls' })).error?.code).toMatch(/EACCES|EROFS/)
  })
})
