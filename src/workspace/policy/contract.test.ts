import { describe, expect, it } from 'vitest'
import {
  decide,
  type ExecutionRequestInput,
  type ExecutionResult,
  encodeOutput,
  executionEnvelope,
  executionRequest,
  explain,
} from './index.ts'

const command = { argv: ['ls'] }

describe('a request', () => {
  it('has the defaults of the contract', () => {
    expect(executionRequest({ vault: 'v', command })).toEqual({
      vault: 'v',
      command,
      cwd: '/',
      readonly: false,
      checkpoint: 'auto',
      timeoutMs: 300_000,
      env: {},
      session: 'auto',
      network: false,
      isolation: 'auto',
    })
  })

  it.each<[string, object]>([
    ['vault', { vault: '' }],
    ['cwd', { cwd: 'src' }],
    ['cwd', { cwd: '/a/../b' }],
    ['cwd', { cwd: '/a/' }],
    ['cwd', { cwd: '/a\0' }],
    ['mountpoint', { mountpoint: 'x' }],
    ['command', { command: {} }],
    ['command', { command: { argv: ['ls'], shell: 'ls' } }],
    ['command.argv', { command: { argv: [] } }],
    ['command.argv', { command: { argv: ['ls', 'a\0'] } }],
    ['command.argv', { command: { argv: [''] } }],
    ['command.shell', { command: { shell: ' \n' } }],
    ['checkpoint', { checkpoint: 'maybe' }],
    ['session', { session: 'mount' }],
    ['isolation', { isolation: 'full' }],
    ['readonly', { readonly: 'yes' }],
    ['network', { network: 1 }],
    ['timeoutMs', { timeoutMs: -1 }],
    ['timeoutMs', { timeoutMs: 1.5 }],
    ['timeoutMs', { timeoutMs: 2 ** 40 }],
    ['env', { env: null }],
    ['env', { env: { 'A=B': 'x' } }],
    ['env', { env: { '-S': 'curl x' } }],
    ['env', { env: { '--split-string': 'x' } }],
    ['env', { env: { 'a b': 'x' } }],
    ['env.A', { env: { A: 1 } }],
    ['stdin', { stdin: 7 }],
  ])('is EINVAL for its %s where that is %j', (field, wrong) => {
    const input: ExecutionRequestInput = { vault: 'v', command, ...wrong }
    expect(() => executionRequest(input)).toThrow(
      expect.objectContaining({ code: 'EINVAL', detail: expect.stringMatching(new RegExp(`^${field} `)) }),
    )
  })
})

describe('a decision', () => {
  it('follows the defaults of the contract', () => {
    const actions = ['ls', 'touch f', 'rm f', 'vim f', 'curl x', 'cat /etc/passwd'].map(
      (shell) => decide(executionRequest({ vault: 'v', command: { shell } })).action,
    )
    const checkpoint = 'allow_with_checkpoint'
    expect(actions).toEqual(['allow', checkpoint, checkpoint, checkpoint, 'require_approval', 'deny'])
  })

  it('takes the words of argv literally', () => {
    const judged = (...argv: string[]) => decide(executionRequest({ vault: 'v', command: { argv } }))
    expect(judged('echo', '$(curl x)', '> /etc/x').action).toBe('allow')
    expect(judged('sh', '-c', 'curl x').action).toBe('require_approval')
    expect(judged('/bin/cat', '/etc/passwd').action).toBe('deny')
  })

  it('considers variables and input of the request', () => {
    const judged = (input: object) => decide(executionRequest({ vault: 'v', command, ...input })).action
    expect(judged({ env: { LD_PRELOAD: './x.so' } })).toBe('allow_with_checkpoint')
    expect(judged({ env: { PAGER: 'curl x' } })).toBe('require_approval')
    expect(judged({ env: { GREETING: '/etc/passwd' } })).toBe('allow')
    expect(judged({ network: true })).toBe('require_approval')
    expect(judged({ command: { argv: ['sh'] }, stdin: 'curl x' })).toBe('require_approval')
    expect(judged({ command: { argv: ['sh'] }, stdin: Buffer.from('cat /etc/x') })).toBe('deny')
  })

  it('needs no checkpoint if nothing can change', () => {
    const request = { vault: 'v', command: { shell: 'touch f' }, readonly: true }
    expect(decide(executionRequest(request))).toMatchObject({ action: 'allow', categories: ['mutating'] })
  })

  it('says how policy follows cd, if the path is inside once the moves before it succeed', () => {
    const judge = (shell: string) => decide(executionRequest({ vault: 'v', command: { shell } }))
    const hint = /outside the workspace; policy follows cd only through &&, as in: cd a && ls \.\.$/
    for (const line of ['cd sub; ls; cd ..; ls', "sh -c 'cd a/b; cat ../../c'"]) {
      expect(judge(line).reason).toMatch(hint)
      expect(judge(line.replaceAll(';', ' &&')).action).toMatch(/^allow/)
    }
    for (const line of ['cat ../c', 'cd sub; cat ../../c', 'cd sub; cat /etc/c', 'cd ..; ls'])
      expect(judge(line).reason).toMatch(/; a rule of policy\.toml can allow the path$/)
  })

  it('names the deciding part, and does not modify its arguments', () => {
    const request = Object.freeze(
      executionRequest({ vault: 'v', command: Object.freeze({ shell: 'ls && curl x | cat' }) }),
    )
    const { decision, parts } = explain(request)
    expect(decision).toEqual(decide(request))
    expect(decision.reason).toBe('`curl x` reaches the network; it needs approval')
    expect(parts.map(({ program, action }) => [program, action])).toEqual([
      ['ls', 'allow'],
      ['curl', 'require_approval'],
      ['cat', 'allow'],
    ])
  })
})

describe('an envelope', () => {
  const result: ExecutionResult = {
    vault: 'v',
    mountpoint: '/m',
    cwd: '/',
    command,
    stdout: '',
    stderr: '',
    exit_code: 0,
    duration_ms: 1,
    readonly: false,
    checkpoint: null,
    changed_files: { added: [], modified: [], deleted: [] },
    decision: { action: 'allow', categories: ['read_only'] },
    timed_out: false,
    session: 'dir',
  }

  it('has the request in snake case, without its input', () => {
    const envelope = executionEnvelope(executionRequest({ vault: 'v', command, stdin: 'secret' }), result)
    expect(envelope).toMatchObject({ schema_version: 1, kind: 'proxy_exec_result', success: true, result })
    expect(Object.keys(envelope.request).sort()).toEqual(
      'checkpoint command cwd env isolation mountpoint network readonly session timeout_ms vault'.split(' '),
    )
  })

  it('is a success only if the command ended by itself with 0', () => {
    const request = executionRequest({ vault: 'v', command })
    for (const other of [{ exit_code: 1 }, { exit_code: null }, { timed_out: true }]) {
      expect(executionEnvelope(request, { ...result, ...other }).success).toBe(false)
    }
  })

  it('keeps output that is not UTF-8', () => {
    expect(encodeOutput(Buffer.from('\ufeffgrün'))).toBe('\ufeffgrün')
    expect(encodeOutput(Uint8Array.of(0xff, 0))).toEqual({ encoding: 'base64', data: '/wA=' })
  })
})
