import { describe, expect, it } from 'vitest'
import {
  decide,
  executionRequest,
  explain,
  type PolicyAction,
  PolicyFileError,
  type PolicyProblem,
  parsePolicy,
} from '../index.ts'

function action(policy: string, shell: string): PolicyAction {
  return decide(executionRequest({ vault: 'v', command: { shell } }), parsePolicy('policy.toml', policy))
    .action
}

const FETCH = '[[rule]]\naction = "allow"\nprogram = "npm"\nargs = "ci*"\n'

describe('a policy', () => {
  it('allows what a rule matches, and nothing else', () => {
    expect(action(FETCH, 'npm ci')).toBe('allow_with_checkpoint')
    expect(action(FETCH, 'npm ci --no-audit')).toBe('allow_with_checkpoint')
    expect(action(FETCH, 'npm install x')).toBe('require_approval')
    expect(action(FETCH, 'npm ci && curl x')).toBe('require_approval')
    expect(action(FETCH, 'npm ci $(curl x)')).toBe('require_approval')
    expect(action(FETCH, 'npm ci $x')).toBe('require_approval')
  })

  it('applies rules to wrapped commands', () => {
    expect(action(FETCH, `timeout 60 sh -c 'npm ci'`)).toBe('allow_with_checkpoint')
    expect(action('[[rule]]\naction = "deny"\nprogram = "git"\nargs = "push*"', `env A=1 git push`)).toBe(
      'deny',
    )
  })

  it.each([
    'npm ci',
    'npm ci --no-audit',
    '/usr/bin/npm ci',
    'CI=1 npm ci',
    'cd app && npm ci',
    'rm -rf node_modules && npm ci',
    'mkdir -p out && npm ci > out/log 2>&1',
    'npm ci | tee log',
    'node --version && npm ci',
    'test -f package-lock.json && npm ci && echo done',
    "timeout 600 bash -lc 'npm ci'",
    'f() { npm ci; }; f',
  ])('grants the network if it allows everything that runs: %s', (line) => {
    expect(action(FETCH, line)).toBe('allow_with_checkpoint')
  })

  it.each([
    './npm ci',
    'bin/npm ci',
    '"$PWD"/npm ci',
    '/work/space/npm ci',
    'NPM ci',
    'npm ci; ./npm',
    'npm ci; node x.js',
    'npm ci && npm test',
    'npm ci && git status',
    'npm ci & ./serve',
    'npm ci | node',
    'npm ci | sh',
    'npm ci; make',
    'npm ci; unknown-program',
    'npm ci; . ./env.sh',
    'source env.sh; npm ci',
    'npm ci; python -c "print(1)"',
    'npm ci; bash script.sh',
    'npm ci; awk -f x.awk f',
    'npm ci; find . -exec ./x {} +',
    'npm ci; xargs ./x',
    'npm ci $(./x)',
    'npm ci <(./x)',
    'npm() { ./x; }; npm ci',
    'alias npm=./x; npm ci',
    'hash -p ./x npm; npm ci',
    'enable -f ./x.so npm; npm ci',
    'trap ./x EXIT; npm ci',
    'PATH=.:$PATH npm ci',
    'PATH=. npm ci',
    'export PATH=.:$PATH; npm ci',
    'env PATH=. npm ci',
    'for PATH in .; do npm ci; done',
    'read PATH; npm ci',
    'unset PATH; npm ci',
    'declare -x PATH=.; npm ci',
    'printf -v PATH .; npm ci',
    'NODE_OPTIONS=--require=./x.js npm ci',
    'LD_PRELOAD=./x.so npm ci',
    'BASH_ENV=./x npm ci',
    'npm_config_registry=https://example.org npm ci',
    'HTTPS_PROXY=http://example.org npm ci',
    'A_VARIABLE_NOBODY_KNOWS=1 npm ci',
    'npm ci --script-shell=./x',
    'cd .. && npm ci',
  ])('asks if anything else would share the network: %s', (line) => {
    expect(action(FETCH, line)).toMatch(/^(?:require_approval|deny)$/)
  })

  it('grants no network to variables of a request, or to an explicit request for it', () => {
    const judged = (input: object) =>
      decide(
        executionRequest({ vault: 'v', command: { argv: ['npm', 'ci'] }, ...input }),
        parsePolicy('p', FETCH),
      ).action
    expect(judged({})).toBe('allow_with_checkpoint')
    expect(judged({ env: { CI: '1' } })).toBe('allow_with_checkpoint')
    expect(judged({ env: { PATH: '.' } })).toBe('require_approval')
    expect(judged({ env: { HTTPS_PROXY: 'http://example.org' } })).toBe('require_approval')
    expect(judged({ network: true })).toBe('require_approval')
  })

  it('allows to leave the workspace only by path or category', () => {
    const program = '[[rule]]\naction = "allow"\nprogram = "cat"\n'
    expect(action(program, 'cat /etc/hosts')).toBe('deny')
    expect(action(`${program}path = "/etc/hosts"`, 'cat /etc/hosts')).toBe('allow')
    expect(action(`${program}path = "/etc/hosts"`, 'cat /etc/hosts /etc/shadow')).toBe('deny')
    expect(action('[[rule]]\naction = "allow"\npath = "/tmp/*"', 'echo x > /tmp/f')).toBe(
      'allow_with_checkpoint',
    )
    expect(action('[[rule]]\naction = "allow"\ncategory = "host_escape_risk"', 'cat /x')).toBe('allow')
  })

  it('does not match a path partially', () => {
    const rule = '[[rule]]\naction = "allow"\npath = "/tmp/*"'
    expect(action(rule, 'cat /tmp/../etc/passwd')).toBe('deny')
    expect(action(rule, 'cat ../../tmp/x')).toBe('deny')
  })

  it('asks or denies if any rule does, in any order', () => {
    const rules = ['allow', 'deny', 'ask'].map((one) => `[[rule]]\naction = "${one}"\nprogram = "npm"\n`)
    expect(action(rules.join(''), 'npm ci')).toBe('deny')
    expect(action(rules.toReversed().join(''), 'npm ci')).toBe('deny')
    expect(action(`${rules[0]}${rules[2]}`, 'npm test')).toBe('require_approval')
  })

  it('can change the defaults', () => {
    const policy = '[defaults]\nnetworked = "allow"\ndestructive = "ask"\n'
    expect(action(policy, 'curl x')).toBe('allow')
    expect(action(policy, 'rm x')).toBe('require_approval')
    expect(action(policy, 'touch x')).toBe('allow_with_checkpoint')
  })

  it('reports the reason of the denying rule', () => {
    const policy = parsePolicy('p', '[[rule]]\naction = "deny"\nprogram = "npm"\nreason = "use pnpm"')
    const request = executionRequest({ vault: 'v', command: { shell: 'npm test' } })
    expect(decide(request, policy).reason).toContain('use pnpm')
  })

  it('is explained with file and line of the deciding rule, and the part', () => {
    const text = `${FETCH}\n[[rule]]\nprogram = "git"\naction = "deny"`
    const request = executionRequest({ vault: 'v', command: { shell: 'npm ci && sh -c "git log"' } })
    const { decision, parts } = explain(request, parsePolicy('/home/policy.toml', text))
    expect(decision.reason).toBe('`git log` only reads; /home/policy.toml:6 says deny')
    expect(parts.map((part) => [part.text, part.rules.map(({ source }) => source)])).toEqual([
      ['npm ci', ['/home/policy.toml:1', '/home/policy.toml:1']],
      ['sh -c git log', []],
      ['git log', ['/home/policy.toml:6']],
    ])
  })

  it('matches any pattern quickly', () => {
    const policy = `[[rule]]\naction = "deny"\nprogram = "${'*a'.repeat(200)}b"`
    expect(action(policy, 'a'.repeat(2000))).toBe('allow_with_checkpoint')
  })
})

describe('a policy file', () => {
  it.each<[string, readonly PolicyProblem[]]>([
    ['a = [', [{ line: 1, message: expect.stringContaining('not valid TOML') }]],
    ['\n[rules]\n', [{ line: 2, message: expect.stringContaining("unknown key 'rules'") }]],
    [
      '# x\n[defaults]\nnetwork = "ask"\n',
      [{ line: 3, message: expect.stringContaining("unknown key 'network'") }],
    ],
    [
      '[defaults]\nmutating = "maybe"\n',
      [{ line: 2, message: 'mutating cannot be "maybe"; use one of allow, ask, deny' }],
    ],
    [
      `${FETCH}\n[[rule]]\n# action = "x"\nprogram = """\n[[rule]]\n"""\naction = "perhaps"\n`,
      [{ line: 11, message: expect.stringContaining('action cannot be "perhaps"') }],
    ],
    ['[[rule]]\nprogram = "x"\n', [{ line: 1, message: expect.stringContaining('action is missing') }]],
    ['[[rule]]\naction = "deny"\n', [{ line: 1, message: expect.stringContaining('needs a condition') }]],
    [
      '[[rule]]\naction = "deny"\nprogam = "x"\npath = "y"',
      [{ line: 3, message: expect.stringContaining("unknown key 'progam'") }],
    ],
    ['[[rule]]\naction = "deny"\nargs = 3\n', [{ line: 3, message: 'args must be a text, not 3' }]],
    [
      '[[rule]]\naction = "deny"\ncategory = "network"\n',
      [{ line: 3, message: expect.stringContaining('category cannot be') }],
    ],
  ])('with %j is refused at its line', (text, problems) => {
    expect(problemsOf(text)).toEqual(problems)
  })

  it('may be empty', () => {
    expect(parsePolicy('policy.toml', '')).toEqual({ rules: [] })
  })
})

function problemsOf(text: string): readonly PolicyProblem[] {
  try {
    parsePolicy('policy.toml', text)
  } catch (error) {
    if (error instanceof PolicyFileError) return error.problems
    throw error
  }
  return []
}

describe('a policy that asks a person about reads outside of the workspace', () => {
  const ask = (shell: string, policy = '') =>
    decide(executionRequest({ vault: 'v', command: { shell } }), {
      ...parsePolicy('policy.toml', policy),
      asksToReadOutside: true,
    })

  it.each(['ls ..', 'cat /etc/hostname', 'wc -l < /etc/hosts', 'cat /etc/hosts | grep me', 'ls; ls ~'])(
    'asks about %s',
    (shell) => {
      expect(ask(shell)).toMatchObject({
        action: 'require_approval',
        categories: ['host_escape_risk'],
        reason: expect.stringMatching(/outside the workspace; it needs approval$/),
      })
    },
  )

  it.each([
    'echo x > /etc/y',
    'cp /etc/hosts .',
    'cat /etc/hosts > copy',
    'cd .. && rm x',
    'cat ../$x',
    'sudo cat /etc/shadow',
    'kill 1',
    'curl file:///etc/passwd',
    `python3 -c 'open("/etc/y", "w")'`,
  ])('denies %s', (shell) => {
    expect(ask(shell).action).toBe('deny')
  })

  it('follows its rules and defaults first', () => {
    expect(ask('cat /etc/x', '[[rule]]\naction = "deny"\npath = "/etc/*"').action).toBe('deny')
    expect(ask('cat /etc/x', '[[rule]]\naction = "allow"\npath = "/etc/*"').action).toBe('allow')
    expect(ask('cat /etc/x', '[defaults]\nhost_escape_risk = "deny"').action).toBe('deny')
  })
})
