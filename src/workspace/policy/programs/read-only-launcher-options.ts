import type { OptionRow } from './option-table.ts'

const SHELL = '-celuxvisfn -o= -O= --login --norc --noprofile --posix --version --help +'
const NPM =
  '-asSlpgDEhv -w= -C= -F= -L= --json --all --long --parseable --silent --quiet --depth= --global --prefix= --omit= --include= --prod --production --dev --only= --workspace= --workspaces --filter= --recursive --dir= --loglevel= --link --unicode --no-unicode --color? --no-color --version --help --package-lock-only --no-progress --pattern= --cwd='
const ABOUT = '--version --help -vVh'

/** Read-only options of programs that run others: wrappers, shells, interpreters and package managers. */
export const readOnlyLauncherOptions: readonly OptionRow[] = [
  // Words after their options are classified as a program of its own.
  [
    'env genv',
    '-i0v -u= -C= -S= -a= --ignore-environment --null --unset= --chdir= --split-string= --debug --argv0= +',
  ],
  [
    'xargs gxargs',
    '-0rtxo -d= -E= -I= -J= -L= -n= -P= -s= -R= -a= -i? -l? -e? --null --no-run-if-empty --max-args= --max-procs= --max-chars= --max-lines? --replace? --delimiter= --arg-file= --verbose --exit +',
  ],
  ['nice', '-# -n= --adjustment= +'],
  ['ionice', '-t -c= -n= --class= --classdata= --ignore +'],
  ['timeout gtimeout', '-v -s= -k= --preserve-status --foreground --signal= --kill-after= --verbose +'],
  ['time', '-pvlh -f= --format= --portability --verbose +'],
  ['stdbuf', '-i= -o= -e= --input= --output= --error= +'],
  ['setsid', '-wfc --wait --fork --ctty +'],
  ['exec', '-cl -a= +'],
  ['command', '-pvV +'],
  [
    'prlimit',
    '--nofile? --nproc? --as? --cpu? --core? --data? --fsize? --stack? --rss? -n? -u? -v? -t? -c? -d? -f? -s? -m? +',
  ],
  ['taskset', '-a -c= --cpu-list= +'],
  ['caffeinate', '-dimsu -t= +'],
  ['entr', '-acdnprsz +'],
  ['dotenv cross-env', '-e= -f= +'],
  ['nohup builtin unbuffer chronic tini dumb-init arch ifne tsp linux32 linux64 noglob nocorrect', '+'],
  ['sh bash dash zsh ksh mksh ash yash rbash csh tcsh rc osh ysh posh', SHELL],
  [
    'fish nu xonsh elvish',
    '-Nlin -c= -C= --command= --commands= --init-command= --no-config --private --login',
  ],
  ['pwsh powershell', '=-NoProfile =-NonInteractive =-NoLogo =-Command~ =-command~ =-c~'],
  ['eval source .', '+'],
  ['node nodejs tsx ts-node python python2 pypy pypy3 ipython ruby irb perl lua luajit', ABOUT],
  ['php', `${ABOUT} -mi`],
  ['deno java dotnet mono wasmtime wasmer Rscript R julia elixir', `${ABOUT} =-version`],
  ['make gmake bmake remake gcc g++ cc c++ clang clang++ cpp rustc', ABOUT],
  ['npm pnpm yarn cnpm bun', NPM],
  [
    'pip pip3 conda mamba',
    '-qvhVefn -p= -r= --version --help --quiet --verbose --format= --local --user --editable --not-required --json --disable-pip-version-check --no-input --no-color --path= --exclude= --all --files --name= --prefix= --envs',
  ],
  [
    'poetry uv pdm pipenv hatch rye composer mix rebar3',
    '-qvhVtT -C= -o= --version --help --quiet --verbose --tree --no-ansi --json --directory= --depth= --only= --without= --with= --no-dev --format= --offline --frozen --locked',
  ],
  [
    'gem bundle bundler',
    '-alvqhd --version --help --local --all --versions --details --quiet --paths --name-only',
  ],
  [
    'cargo',
    '-qvhV -p= -e= -i= -F= --version --help --quiet --verbose --offline --locked --frozen --no-deps --format-version= --manifest-path= --package= --workspace --all --depth= --edges= --invert= --prefix= --duplicates --no-dedupe --charset= --features= --all-features --no-default-features --target= --message-format= --filter-platform= --color= --format=',
  ],
  ['go', '-amv =-all =-short =-src =-u =-cmd =-json'],
  [
    'hg svn bzr cvs p4 jj',
    '-pvqnumadscgGTi -l= -r= -c= --stat --limit= --rev= --patch --git --summary --verbose --quiet --graph --no-graph --revisions= --name-only --no-pager',
  ],
  ['sqlite3 sqlite duckdb', ABOUT],
]
