import { OptionTable } from './option-table.ts'

const GREP =
  '-abcEFGhHiIlLnoPqrRsTuUvVwxyzZ -# -A= -B= -C= -D= -d= -e= -f= -m= --after-context= --before-context= --context= --basic-regexp --extended-regexp --fixed-strings --perl-regexp --regexp= --file= --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null --text --binary-files= --exclude= --exclude-from= --exclude-dir= --include= --recursive --dereference-recursive --line-buffered --null-data'
const CHECKSUM =
  '-bctwzqr -a= -l= -s= --check --binary --text --quiet --status --strict --warn --ignore-missing --tag --untagged --zero --base64 --raw --algorithm= --length='
const ENCODING =
  '-dDi -w= --decode --ignore-garbage --wrap= --base64 --base64url --base32 --base32hex --base16 --base2lsbf --base2msbf --z85'
const PACKER =
  '-cdlktvqfnNrz0123456789 --stdout --to-stdout --decompress --uncompress --list --test --keep --quiet --verbose --force --no-name --robot --fast --best'
const LS =
  '-aAbBcCdDfFgGhHiklLmnNopqQrRsStTuUvxXZ1 -I= --all --almost-all --author --block-size= --color? --colour? --classify? --directory --escape --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --dereference --hide= --hyperlink? --indicator-style= --inode --ignore= --kibibytes --literal --numeric-uid-gid --quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero'
const LISTER =
  '-1aAbBdDfFgGhHiIlmMnNoOrSTuUxXZ -L= -s= -t= --long --all --almost-all --tree --level= --depth= --git --git-ignore --icons? --icon= --color? --colour? --sort= --time= --time-style= --header --inode --links --group --group-directories-first --only-dirs --only-files --oneline --recurse --reverse --classify? --ignore-glob= --no-permissions --no-user --no-time --no-filesize --human-readable --total-size --binary --bytes'
const RIPGREP =
  '-abcFhHiIlLnNoPpqsSUuvVwxz0. -A= -B= -C= -d= -e= -E= -f= -g= -j= -m= -M= -r= -t= -T= --after-context= --before-context= --binary --block-buffered --byte-offset --case-sensitive --color= --colors= --column --context= --context-separator= --count --count-matches --crlf --debug --dfa-size-limit= --encoding= --engine= --field-context-separator= --field-match-separator= --file= --files --files-with-matches --files-without-match --fixed-strings --follow --glob= --glob-case-insensitive --heading --hidden --iglob= --ignore-case --ignore-file= --ignore-file-case-insensitive --include-zero --invert-match --json --line-buffered --line-number --line-regexp --max-columns= --max-columns-preview --max-count= --max-depth= --max-filesize= --mmap --multiline --multiline-dotall --no-config --no-filename --no-heading --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-line-number --no-messages --no-mmap --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator= --pcre2 --pretty --quiet --regex-size-limit= --regexp= --replace= --search-zip --smart-case --sort= --sortr= --stats --stop-on-nonmatch --text --threads= --trim --type= --type-add= --type-clear= --type-list --type-not= --unrestricted --vimgrep --with-filename --word-regexp'
const DIFF =
  '-abBcdeEilnNpqrstTuwyZ -# -U= -C= -I= -W= -x= -X= -F= -L= -S= --brief --unified? --context? --side-by-side --recursive --color? --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion --new-file --text --report-identical-files --exclude= --exclude-from= --width= --suppress-common-lines --minimal --speed-large-files --strip-trailing-cr --label= --normal --ed --rcs --no-dereference --from-file= --to-file= --starting-file= --show-c-function --ignore-matching-lines= --left-column --expand-tabs --initial-tab'
const SHELL = '-celuxvisfn -o= -O= --login --norc --noprofile --posix --version --help +'
const JQ =
  '-cCjMnrRsSae -f= -L= --arg= --argjson= --slurpfile= --rawfile= --args --jsonargs --tab --indent= --compact-output --raw-output --raw-output0 --join-output --null-input --raw-input --slurp --sort-keys --color-output --monochrome-output --ascii-output --exit-status --from-file= --library-path= --seq --stream --stream-errors --unbuffered'
const NPM =
  '-asSlpgDEhv -w= -C= -F= -L= --json --all --long --parseable --silent --quiet --depth= --global --prefix= --omit= --include= --prod --production --dev --only= --workspace= --workspaces --filter= --recursive --dir= --loglevel= --link --unicode --no-unicode --color? --no-color --version --help --package-lock-only --no-progress --pattern= --cwd='
const ABOUT = '--version --help -vVh'

/**
 * Options with which programs are known to only read. Any other option, an abbreviated long option
 * included, makes a call `mutating`. That costs a checkpoint, and no unreviewed option passes as reading.
 */
export const readOnlyOptions: OptionTable = new OptionTable([
  // Their arguments are words.
  ['echo true false : expr yes exit return break continue shift printf test [ dd let', '*'],
  ['ulimit tput clear logout suspend compopt factor', '*'],
  [
    'cat',
    '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
  ],
  ['head', '-# -qvz -n= -c= --lines= --bytes= --quiet --silent --verbose --zero-terminated'],
  [
    'tail',
    '-# -fFqvzr -n= -c= -b= -s= --follow? --lines= --bytes= --quiet --silent --verbose --retry --pid= --sleep-interval= --zero-terminated',
  ],
  ['wc', '-clmwL --lines --words --chars --bytes --max-line-length --files0-from= --total='],
  [
    'nl',
    '-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w= --body-numbering= --number-format= --number-width= --number-separator= --starting-line-number=',
  ],
  [
    'od',
    '-abcdfhilosvx -A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --format= --output-duplicates --width?',
  ],
  ['hexdump', '-bcCdovx -e= -f= -n= -s= -L?'],
  ['strings', '-afdow -# -n= -t= -e= --all --print-file-name --bytes= --radix= --encoding='],
  ['stat', '-fLtxlnqrsF -c= --format= --printf= --terse --dereference --file-system'],
  ['ls dir vdir', LS],
  ['exa eza lsd', LISTER],
  [
    'du',
    '-abchHklLmPsSx0 -d= -B= -t= -I= --all --max-depth= --human-readable --summarize --total --si --apparent-size --block-size= --exclude= --exclude-from= --one-file-system --bytes --time? --time-style= --threshold= --inodes --separate-dirs --dereference --null',
  ],
  [
    'df',
    '-ahHiklmPTvYg -B= -t= -x= --all --human-readable --si --inodes --output? --total --type= --exclude-type= --local --portability --print-type --block-size=',
  ],
  ['cmp', '-bls -i= -n= --verbose --silent --quiet --print-bytes --ignore-initial= --bytes='],
  ['diff colordiff', DIFF],
  ['diff3', '-aAeEimtTxX3 -L='],
  ['comm', '-123iz --check-order --nocheck-order --output-delimiter= --total --zero-terminated'],
  [
    'join',
    '-iz -a= -e= -j= -o= -t= -v= -1= -2= --header --check-order --nocheck-order --zero-terminated --ignore-case',
  ],
  ['paste', '-sz -d= --delimiters= --serial --zero-terminated'],
  ['fold', '-bsc -w= --width= --bytes --spaces'],
  ['fmt', '-cstu -# -w= -p= -g= --width= --prefix= --goal= --split-only --uniform-spacing'],
  [
    'column',
    '-txeJL -s= -o= -N= -R= -T= -H= -c= -l= --table --separator= --output-separator= --output-width= --json --table-columns= --table-right= --table-hide= --table-truncate= --table-noheadings --fillrows --keep-empty-lines',
  ],
  ['tac', '-br -s= --before --regex --separator='],
  ['expand unexpand', '-ia -t= --tabs= --initial --all --first-only'],
  ['base64 base32 basenc', ENCODING],
  ['md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum', CHECKSUM],
  [
    'readlink',
    '-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero --verbose --quiet --silent',
  ],
  [
    'realpath',
    '-emLPqsz --relative-to= --relative-base= --no-symlinks --strip --logical --physical --canonicalize-existing --canonicalize-missing --quiet --zero',
  ],
  ['pwd', '-LPW'],
  ['dirs', '-clpv -#'],
  ['cd pushd chdir popd', '-LPen@'],
  ['look', '-adf -t='],
  ['zcat bzcat xzcat zstdcat', '-fqv'],
  [
    'bat',
    '-npPAsd -l= -r= -H= -m= --plain --number --style= --color= --paging=never --no-pager --language= --line-range= --highlight-line= --theme= --wrap= --tabs= --show-all --decorations= --terminal-width= --list-languages --list-themes --diff --squeeze-blank --file-name=',
  ],
  [
    'delta',
    '-sn --side-by-side --line-numbers --dark --light --no-gitconfig --paging=never --width= --color-only --diff-so-fancy --keep-plus-minus-markers --raw',
  ],
  ['hexyl', '-v -n= -c= -s= -b= -o= --length= --bytes= --skip= --no-squeezing --color= --border= --plain'],
  ['dust', '-rsxbcpfFi -d= -n= -X= --depth= --number-of-lines= --reverse --apparent-size --no-percent-bars'],
  [
    'nm',
    '-aABCDgjlmnopPrsSuvx -f= -t= --demangle? --defined-only --undefined-only --dynamic --extern-only --numeric-sort --size-sort --reverse-sort --print-size --debug-syms --line-numbers --format= --radix= --no-sort --portability --print-file-name',
  ],
  [
    'objdump',
    '-afhxpdDSsgGetTrRCwzl -j= -M= -m= -b= --all-headers --archive-headers --file-headers --headers --section-headers --private-headers --disassemble? --disassemble-all --disassembler-options= --section= --source --full-contents --syms --dynamic-syms --reloc --dynamic-reloc --demangle? --line-numbers --no-show-raw-insn --wide --start-address= --stop-address=',
  ],
  [
    'readelf',
    '-aehlSsdrunVAcDgIWt -x= -p= -R= -w? --all --file-header --program-headers --segments --section-headers --sections --syms --symbols --dynamic --relocs --notes --unwind --version-info --arch-specific --histogram --wide --hex-dump= --string-dump= --debug-dump? --headers --dyn-syms',
  ],
  ['size', '-ABdoxtm --format= --radix= --totals --common'],
  ['otool', '-aAcdDfhHiIlLmMnoPrRsStTvVxX'],
  ['which', '-as --all --skip-alias --skip-functions --tty-only'],
  ['whereis', '-bmsul'],
  ['whatis apropos', '-delr -s= --exact --long --regex --section= --wildcard -w'],
  ['printenv', '-0 --null'],
  ['pr', '-adDfFmtTJ -# -h= -l= -n? -o= -w= -W= -s? -S? -e? -i? -N='],
  [
    'ps',
    '-AadeNTflFjLHmMwycvxXrSZ -o= -O= -p= -u= -U= -C= -G= -g= -t= -s= -q= -k= --forest --sort= --no-headers --no-heading --headers --pid= --ppid= --user= --User= --format= --cols= --columns= --width= --deselect',
  ],
  [
    'pgrep',
    '-flanoxvciwLA -u= -U= -P= -g= -G= -s= -t= -d= -r= --full --list-name --list-full --newest --oldest --exact --inverse --count --ignore-case --parent= --user= --delimiter= --euid=',
  ],
  ['pstree', '-acghGlnNpsStTuUZA -H= --arguments --show-pids --long --ascii'],
  ['pidof', '-scxq -o= -S= --single-shot'],
  [
    'lsblk',
    '-abdDfJlmnpPrsStTzO -o= -e= -I= -x= --json --output= --fs --bytes --list --noheadings --paths --pairs --raw --tree? --output-all --all --nodeps --sort=',
  ],
  ['lscpu lsmem', '-aJbxyBnprsS -e? -p? -o= --json --all --extended? --parse? --online --output= --summary?'],
  [
    'netstat',
    '-atunlpreisNcgvWMx46 --tcp --udp --listening --numeric --programs --all --route --interfaces? --statistics --extend --wide --unix',
  ],
  [
    'ss',
    '-atunlpeimors46HxwdzbnOQMT -f= -A= --tcp --udp --listening --numeric --processes --all --summary --no-header --extended --info --options --memory --unix --ipv4 --ipv6 --oneline',
  ],
  ['zipinfo', '-12lmshzvtTM'],
  [
    'tokei',
    '-fCc -s= -t= -e= -n= --files --sort= --type= --types= --exclude= --compact --hidden --no-ignore --languages --columns=',
  ],
  ['bc', '-lqsw --mathlib --quiet --standard --warn'],
  ['vmstat iostat mpstat', '-adfmnstwxzkhypNACu -S= -P= -o='],
  ['grep egrep fgrep zgrep ugrep', GREP],
  ['rg', RIPGREP],
  [
    'ag',
    '-icvlLwQsSnau0 -G= -A= -B= -C= -m= -g= --nogroup --group --nocolor --color --hidden --ignore= --ignore-dir= --depth= --count --files-with-matches --files-without-matches --literal --vimgrep --column --numbers --nonumbers --nobreak --break --noheading --heading --ignore-case --word-regexp --skip-vcs-ignores --path-to-ignore= --only-matching --stats',
  ],
  [
    'ack',
    '-ilLwvcnQhHosf -# -A= -B= -C= -m= -g= -t= --output= --type= --nogroup --group --nocolor --color --ignore-dir= --ignore-file= --noheading --heading --nobreak --break --count --files-with-matches --files-without-matches --ignore-case --word-regexp --literal --column --js --ts --python --ruby --go --rust --java --php --perl --cc --html --css --json --yaml --xml',
  ],
  ['jq gojq', JQ],
  [
    'yq',
    '-rPNMCejncyY -o= -p= -I= --output-format= --input-format= --prettyPrint --no-doc --colors --no-colors --exit-status --null-input --indent= --unwrapScalar? --expression= --front-matter= --tojson --from-file= --arg= --argjson= --raw-output --compact-output --yaml-output',
  ],
  [
    'sort',
    '-bdfghiMnrRVcCmsuz -k= -t= -S= --key= --field-separator= --reverse --numeric-sort --unique --human-numeric-sort --version-sort --general-numeric-sort --ignore-case --stable --check? --merge --zero-terminated --random-sort --month-sort --dictionary-order --ignore-leading-blanks --ignore-nonprinting --debug --buffer-size= --sort= --files0-from= --parallel= --batch-size=',
  ],
  [
    'uniq',
    '-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --unique --ignore-case --skip-fields= --skip-chars= --check-chars= --zero-terminated --group?',
  ],
  [
    'cut',
    '-nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter= --zero-terminated',
  ],
  [
    'date',
    '-uRjn -d= -f= -I? -r= -v= --date= --file= --iso-8601? --rfc-email --rfc-3339= --reference= --utc --universal --debug',
  ],
  [
    'fd fdfind',
    '-HIusigFlaLp0q1 -x~ -X~ --exec~ --exec-batch~ -d= -E= -t= -e= -S= -o= -c= -j= -C= --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --exclude= --prune --type= --extension= --size= --changed-within= --changed-before= --owner= --format= --color= --threads= --max-results= --quiet --show-errors --base-directory= --path-separator= --search-path= --strip-cwd-prefix? --one-file-system --no-ignore-vcs --no-ignore-parent --ignore-file= --and=',
  ],
  [
    'xxd',
    '-abeiuCEp =-ps =-plain =-postscript -c= -g= -l= -n= -o= -s= =-cols= =-len= =-seek= =-bits =-include =-capitalize',
  ],
  ['hostname', '-aAdfiIsy --fqdn --short --long --domain --ip-address --all-ip-addresses'],
  ['shuf', '-erz -n= -i= --echo --head-count= --input-range= --repeat --random-source= --zero-terminated'],
  [
    'tree',
    '-aAdfilnpqrsStuvxChDFgJNQUX -L= -P= -I= -H= -T= --charset= --dirsfirst --filesfirst --du --filelimit= --gitignore --gitfile= --inodes --matchdirs --ignore-case --noreport --prune --sort? --timefmt= --si --info --metafirst',
  ],
  [
    'scc',
    '-cwzvamd -f= -s= -i= -x= -M= -n= --format= --wide --by-file --sort= --include-ext= --exclude-ext= --not-match= --exclude-dir= --no-complexity --no-cocomo --no-duplicates --no-gitignore --no-large --no-min-gen --no-size --uloc --ci',
  ],
  [
    'file',
    '-bciLhkNnprsvzZ0I -e= -F= -f= -m= -P= --brief --mime --mime-type --mime-encoding --extension --dereference --no-dereference --keep-going --no-pad --no-buffer --raw --special-files --uncompress --exclude= --separator= --files-from= --print0 --apple',
  ],
  [
    'cloc',
    '--exclude-dir= --exclude-ext= --include-ext= --include-lang= --exclude-lang= --by-file --by-file-by-lang --json --yaml --csv --md --xml --quiet --hide-rate --fullpath --match-d= --not-match-d= --match-f= --not-match-f= --timeout= --skip-uniqueness --sum-one --show-lang --show-ext',
  ],
  ['lsof', '-nPtalUORb -i? -p= -u= -c= -F? -d= -g? -s?'],
  ['stty', '-ag'],
  [
    'uname',
    '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
  ],
  ['id', '-unGgrzaZ --user --group --groups --name --real --zero'],
  ['nproc', '--all --ignore='],
  ['tty', '-s --quiet --silent'],
  ['locale', '-amkc --all-locales --charmaps'],
  ['cal', '-13jmsyhNY -A= -B= -n='],
  ['uptime', '-ps --pretty --since'],
  ['free', '-bkmghtlwv -s= -c= --human --mega --giga --kilo --total --wide --si --bytes'],
  ['w who users', '-hsuflioaHTbdmpqrt --heading --count'],
  ['getconf', '-a -v='],
  ['seq', '-w -# -f= -s= --equal-width --format= --separator='],
  ['basename', '-az -s= --multiple --suffix= --zero'],
  ['dirname', '-z --zero'],
  ['tr', '-cCdst --complement --delete --squeeze-repeats --truncate-set1'],
  [
    'numfmt',
    '-z -d= --to= --from= --to-unit= --from-unit= --field= --suffix= --padding= --grouping --header? --format= --round= --invalid= --delimiter=',
  ],
  [
    'sed gsed',
    '-nErsuz -e= -l= --quiet --silent --expression= --regexp-extended --posix --separate --unbuffered --null-data --debug --sandbox --line-length= --follow-symlinks',
  ],
  [
    'awk gawk mawk nawk',
    '-PcSMnrNbO -F= -v= -e= --field-separator= --assign= --source= --posix --sandbox --re-interval --traditional --bignum --characters-as-bytes --non-decimal-data',
  ],
  [
    'tar bsdtar',
    '-tvzjJZadRSs -f= -C= -T= -X= --list --verbose --file= --gzip --gunzip --bzip2 --xz --zstd --lzma --directory= --files-from= --exclude= --exclude-from= --wildcards --no-wildcards --full-time --numeric-owner --utc --strip-components= --diff --compare --test-label --force-local --auto-compress --show-transformed-names --occurrence?',
  ],
  [
    'rsync',
    '-avnrlptgoDzhiuxcHAXSqCRPmOkLKdW0 --dry-run --archive --verbose --itemize-changes --recursive --links --perms --times --group --owner --compress --human-readable --checksum --update --exclude= --include= --exclude-from= --include-from= --stats --list-only --size-only --ignore-times --delete --progress --info= --out-format= --filter= -f=',
  ],
  [
    'patch',
    '-RNEuslft -p= -i= -d= -F= --strip= --reverse --forward --dry-run --input= --verbose --quiet --silent --ignore-whitespace --force --batch --directory= --fuzz= --unified --remove-empty-files',
  ],
  ['unzip', '-lvtZqC1mshz'],
  ['gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli', PACKER],
  ['kill', '-lL -s= -n= --list? --table --signal='],
  ['jobs', '-lnprs'],
  ['type', '-afptP'],
  ['umask', '-Sp'],
  ['times', ''],
  ['export readonly', '-pfnaA'],
  ['declare local typeset', '-aAfFgIlnprtux'],
  ['read', '-resE -a= -d= -i= -n= -N= -p= -t= -u='],
  ['mapfile readarray', '-t -d= -n= -s= -u='],
  ['wait', '-fn -p='],
  ['unset', '-fvn'],
  ['set', '-BCEHTbefhmnptuvx -o='],
  ['shopt', '-opqsu'],
  ['setopt', ''],
  ['unalias', '-a'],
  ['alias', '-p'],
  ['trap', '-lp +'],
  ['disown', '-ahr'],
  ['hash', '-lrt -d='],
  ['enable', '-anps'],
  ['bind', '-lpPsSvVX -q='],
  ['complete', '-pr'],
  ['compgen', '-abcdefgjksuvVo -A='],
  ['history', '-c'],
  ['fc', '-lnr'],
  ['getopts', '*'],
  // Programs that run others: words after their options are classified as a program of its own.
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
])
