import type { OptionRow } from './option-table.ts'

const GREP =
  '-abcEFGhHiIlLnoPqrRsTuUvVwxyzZ -# -A= -B= -C= -D= -d= -e= -f= -m= --after-context= --before-context= --context= --basic-regexp --extended-regexp --fixed-strings --perl-regexp --regexp= --file= --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null --text --binary-files= --exclude= --exclude-from= --exclude-dir= --include= --recursive --dereference-recursive --line-buffered --null-data'
const ENCODING =
  '-dDi -w= --decode --ignore-garbage --wrap= --base64 --base64url --base32 --base32hex --base16 --base2lsbf --base2msbf --z85'
const RIPGREP =
  '-abcFhHiIlLnNoPpqsSUuvVwxz0. -A= -B= -C= -d= -e= -E= -f= -g= -j= -m= -M= -r= -t= -T= --after-context= --before-context= --binary --block-buffered --byte-offset --case-sensitive --color= --colors= --column --context= --context-separator= --count --count-matches --crlf --debug --dfa-size-limit= --encoding= --engine= --field-context-separator= --field-match-separator= --file= --files --files-with-matches --files-without-match --fixed-strings --follow --glob= --glob-case-insensitive --heading --hidden --iglob= --ignore-case --ignore-file= --ignore-file-case-insensitive --include-zero --invert-match --json --line-buffered --line-number --line-regexp --max-columns= --max-columns-preview --max-count= --max-depth= --max-filesize= --mmap --multiline --multiline-dotall --no-config --no-filename --no-heading --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-line-number --no-messages --no-mmap --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator= --pcre2 --pretty --quiet --regex-size-limit= --regexp= --replace= --search-zip --smart-case --sort= --sortr= --stats --stop-on-nonmatch --text --threads= --trim --type= --type-add= --type-clear= --type-list --type-not= --unrestricted --vimgrep --with-filename --word-regexp'
const JQ =
  '-cCjMnrRsSae -f= -L= --arg= --argjson= --slurpfile= --rawfile= --args --jsonargs --tab --indent= --compact-output --raw-output --raw-output0 --join-output --null-input --raw-input --slurp --sort-keys --color-output --monochrome-output --ascii-output --exit-status --from-file= --library-path= --seq --stream --stream-errors --unbuffered'

/** Read-only options of programs that search and transform text. */
export const readOnlyTextOptions: readonly OptionRow[] = [
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
  ['look', '-adf -t='],
  ['pr', '-adDfFmtTJ -# -h= -l= -n? -o= -w= -W= -s? -S? -e? -i? -N='],
  ['bc', '-lqsw --mathlib --quiet --standard --warn'],
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
  ['shuf', '-erz -n= -i= --echo --head-count= --input-range= --repeat --random-source= --zero-terminated'],
  ['seq', '-w -# -f= -s= --equal-width --format= --separator='],
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
]
