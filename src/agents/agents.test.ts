import { describe, expect, it } from 'vitest'
import { MemoryFs } from '../vfs/index.ts'
import { AgentCatalog, formatSkill, parseSkill, toDevicePaths } from './index.ts'

const skill = (name: string, extra = '', body = `How to ${name}.`) =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${extra}---\n\n${body}\n`

async function createCatalog(...layers: Readonly<Record<string, string>>[]): Promise<AgentCatalog> {
  const sources = layers.map(async (files, at) => {
    const fs = new MemoryFs()
    for (const [path, text] of Object.entries(files)) await fs.write(path, text)
    return { origin: `source ${at}`, fs }
  })
  return new AgentCatalog(await Promise.all(sources))
}

const reviewer = {
  '/agents/reviewer/agent.yaml':
    'description: Reviews.\nmodels:\n  provider: anthropic\n  preferred: big\n  fallback: small\ncontext_budget: 1000\nmax_steps: 7\ntools: [web_fetch, /dev/lsp]\nskills: [review, test]\nmcp:\n  docs:\n    command: docs-server\n',
  '/agents/reviewer/instructions.md': '\nYou review.\n',
  '/skills/review/SKILL.md': skill('review', 'allowed-tools: /dev/fs /dev/tasks\n'),
  '/skills/test/SKILL.md': skill('test', 'allowed-tools: /dev/shell /dev/fs\n'),
}

describe('an agent', () => {
  it('has its instructions, the bodies of its skills, and its allowed devices', async () => {
    expect(await (await createCatalog(reviewer)).agent('reviewer')).toEqual({
      name: 'reviewer',
      systemPrompt: 'You review.\n\nHow to review.\n\nHow to test.',
      skills: ['review', 'test'],
      provider: 'anthropic',
      model: 'big',
      fallbacks: [{ model: 'small' }],
      contextBudget: 1000,
      maxSteps: 7,
      allowedDevices: ['/dev/fs', '/dev/tasks', '/dev/shell'],
      tools: ['web_fetch', '/dev/lsp'],
      mcp: { docs: { command: 'docs-server' } },
    })
  })

  it.each([
    ['small', [{ model: 'small' }]],
    ['{provider: google, model: flash}', [{ provider: 'google', model: 'flash' }]],
    ['[small, {provider: ollama}]', [{ model: 'small' }, { provider: 'ollama' }]],
  ])('falls back to %s', async (fallback, fallbacks) => {
    const files = {
      '/agents/a/agent.yaml': `models: {fallback: ${fallback}}\n`,
      '/agents/a/instructions.md': 'x',
    }
    expect(await (await createCatalog(files)).agent('a')).toMatchObject({ fallbacks })
  })

  it('may use every device if neither it nor its skills restrict it', async () => {
    const files = {
      '/agents/a/agent.yaml': 'skills: [s]\n',
      '/agents/a/instructions.md': 'x',
      '/skills/s/SKILL.md': skill('s'),
    }
    expect((await (await createCatalog(files)).agent('a')).allowedDevices).toBeNull()
    const own = { ...files, '/agents/a/agent.yaml': 'skills: [s]\nallowed_devices: [/dev/tty]\n' }
    expect((await (await createCatalog(own)).agent('a')).allowedDevices).toEqual(['/dev/tty'])
    const none = { ...files, '/agents/a/agent.yaml': 'allowed_devices: []\n' }
    expect((await (await createCatalog(none)).agent('a')).allowedDevices).toEqual([])
  })

  it('comes from the first source that has it, with skills from any source', async () => {
    const mine = {
      '/agents/reviewer/agent.yaml': 'skills: [test]',
      '/agents/reviewer/instructions.md': 'Mine.',
    }
    const both = await createCatalog({ ...mine, '/skills/review/notes.md': 'no skill' }, reviewer)
    expect((await both.agent('reviewer')).systemPrompt).toBe('Mine.\n\nHow to test.')
    expect(await both.agents()).toMatchObject([{ name: 'reviewer', origin: 'source 0' }])
    expect(await both.skills()).toMatchObject([
      { name: 'review', origin: 'source 1', description: 'Does review.' },
      { name: 'test', origin: 'source 1' },
    ])
  })

  it.each([
    ['skils: [review]', "line 1: there is no key 'skils'; valid keys: name, description, models"],
    ['description: x\nmodels:\n  provder: y', "line 3: there is no key 'models.provder'"],
    ['description: x\n\nmax_steps: many', "line 3: 'max_steps'"],
    ['description: x\nskills:\n\n  a: 1', "line 2: 'skills'"],
    ['skills:\n  - ok\n  - ../etc', "line 3: 'skills.1'"],
    ['description: "open', 'line 1: '],
    ['a: 1\na: 2', 'line 2: '],
    ['name: other', "line 1: the name 'other' differs from the directory 'a'"],
    ['just words', 'line 1: the file must have keys and values; valid keys:'],
    ['context_budget: -1', "line 1: 'context_budget'"],
    ['allowed_devices: [/dev/../etc]', "line 1: 'allowed_devices.0'"],
    ['allowed_devices: [/dev]', 'the path of a device'],
    ['tools:\n  - web_fetch\n  - Bash(git:*)', "line 3: 'tools.1'"],
  ])('is refused with the line of the problem: %j', async (yaml, problem) => {
    const { agent, agents } = await createCatalog({
      '/agents/a/agent.yaml': yaml,
      '/agents/a/instructions.md': 'x',
    }).then((found) => ({ agent: found.agent('a'), agents: found.agents() }))
    await expect(agent).rejects.toMatchObject({
      code: 'EINVAL',
      path: '/agents/a/agent.yaml',
      message: expect.stringContaining(problem),
    })
    expect(await agents).toMatchObject([{ name: 'a', problem: expect.stringContaining(problem) }])
  })

  it.each(['*hush-hush', '|hush-hush'])(
    'is refused without quoting the file if the key %s is unquoted',
    async (key) => {
      const refused = await createCatalog({
        '/agents/a/agent.yaml': `mcp:\n  docs:\n    env:\n      TOKEN: ${key}\n`,
        '/agents/a/instructions.md': 'x',
      })
      await expect(refused.agent('a')).rejects.toThrow(/^(?!.*hush).*EINVAL.*line/)
    },
  )

  it('reports what is missing, and what exists', async () => {
    const lacking = await createCatalog(reviewer, {
      '/agents/a/agent.yaml': 'skills: [fly]',
      '/agents/a/instructions.md': 'x',
      '/agents/b/agent.yaml': '',
    })
    await expect(lacking.agent('a')).rejects.toMatchObject({
      code: 'ENOENT',
      path: '/agents/a/agent.yaml',
      message: expect.stringContaining("no skill 'fly'; there are: review, test"),
    })
    await expect(lacking.agent('b')).rejects.toThrow('instructions.md')
    await expect(lacking.agent('c')).rejects.toThrow('there are: a, b, reviewer')
  })

  it.each(['..', '../reviewer', 'a/b', '', 'A', 'a--b', '-a', 'a'.repeat(65), 'a\0', 'a\n'])(
    'refuses the name %j',
    async (name) => {
      const found = await createCatalog(reviewer)
      await expect(found.agent(name)).rejects.toMatchObject({ code: 'EINVAL' })
      await expect(found.skill(name)).rejects.toMatchObject({ code: 'EINVAL' })
    },
  )

  it('refuses a huge file, and one whose aliases expand without bound', async () => {
    const aliases = Array.from(
      { length: 9 },
      (_, at) => `    a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`,
    )
    const found = await createCatalog({
      '/agents/huge/agent.yaml': `# ${'x'.repeat(300_000)}`,
      '/agents/bomb/agent.yaml': ['mcp:', '  docs:', '    a0: &a0 [x]', ...aliases].join('\n'),
    })
    await expect(found.agent('huge')).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(found.agent('bomb')).rejects.toMatchObject({ code: 'EINVAL' })
  })
})

describe('a skill', () => {
  it('parses the Agent Skills format and ignores unknown keys', () => {
    const extra =
      'license: MIT\ncompatibility: any\nmetadata:\n  author: anna\n  version: 1.5\nmodel: opus\nallowed-tools: Bash(git:*), Bash(npm run test:*) Read\n'
    expect(parseSkill(`\ufeff${skill('pdf', extra, '# PDF\n\n---\n\nmore')}`, '/x', 'pdf')).toEqual({
      name: 'pdf',
      description: 'Does pdf.',
      license: 'MIT',
      compatibility: 'any',
      metadata: { author: 'anna', version: '1.5' },
      allowedTools: ['Bash(git:*)', 'Bash(npm run test:*)', 'Read'],
      body: '# PDF\n\n---\n\nmore',
    })
    expect(
      parseSkill(skill('pdf', 'allowed-tools:\n  - Read\n').replaceAll('\n', '\r\n'), '/x', 'pdf'),
    ).toMatchObject({
      allowedTools: ['Read'],
      body: 'How to pdf.',
    })
  })

  it.each([
    ['# no front matter', 'line 1: a skill must begin with front matter'],
    ['---\nname: s\n', 'line 1: a skill must begin with front matter'],
    ['---\nname: s\n---\n', "'description' is missing"],
    ['---\nname: s\ndescription: ""\n---\n', "line 3: 'description'"],
    ['---\ndescription: x\nname: Upper\n---\n', "line 3: 'name'"],
    ['---\ndescription: x\nname: other\n---\n', "line 3: the name 'other' differs"],
    ['---\nname: s\ndescription: a: b\n---\n', 'line 3: '],
    ['---\nname: s\ndescription: x\nallowed-tools: 5\n---\n', "line 4: 'allowed-tools'"],
  ])('is refused with the line of the problem: %j', (text, problem) => {
    expect(() => parseSkill(text, '/skills/s/SKILL.md', 's')).toThrow(problem)
  })

  it('maps its tools to device paths, also by the names of other programs', () => {
    expect(
      toDevicePaths([
        '/dev/fs',
        'Read',
        'Bash(git:*)',
        '/mnt/mcp/docs',
        'Unknown',
        'toString',
        '/dev',
        '/dev/..',
        '/etc',
      ]),
    ).toEqual(['/dev/fs', '/dev/shell', '/mnt/mcp/docs'])
  })

  it('is formatted so that it parses again, and keeps unchanged parts', () => {
    const made = formatSkill({ name: 's', description: 'a: "b"\nc', allowedTools: ['/dev/fs'], body: '# S' })
    expect(parseSkill(made, '/x', 's')).toMatchObject({
      description: 'a: "b"\nc',
      allowedTools: ['/dev/fs'],
      body: '# S',
    })
    const old = skill('s', '# by anna\nlicense: MIT\n')
    const changed = formatSkill({ name: 's', description: 'Another.' }, old)
    expect(changed).toContain('# by anna')
    expect(parseSkill(changed, '/x', 's')).toMatchObject({
      description: 'Another.',
      license: 'MIT',
      body: 'How to s.',
    })
  })
})
