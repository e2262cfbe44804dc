import type { OptionRow } from './option-table.ts'

const CHECKSUM =
  '-bctwzqr -a= -l= -s= --check --binary --text --quiet --status --strict --warn --ignore-missing --tag --untagged --zero --base64 --raw --algorithm= --length='
const PACKER =
  '-cdlktvqfnNrz0123456789 --stdout --to-stdout --decompress --uncompress --list --test --keep --quiet --verbose --force --no-name --robot --fast --best'
const LS =
  '-aAbBcCdDfFgGhHiklLmnNopqQrRsStTuUvxXZ1 -I= --all --almost-all --author --block-size= --color? --colour? --classify? --directory --escape --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --dereference --hide= --hyperlink? --indicator-style= --inode --ignore= --kibibytes --literal --numeric-uid-gid --quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero'
const LISTER =
  '-1aAbBdDfFgGhHiIlmMnNoOrSTuUxXZ -L= -s= -t= --long --all --almost-all --tree --level= --depth= --git --git-ignore --icons? --icon= --color? --colour? --sort= --time= --time-style= --header --inode --links --group --group-directories-first --only-dirs --only-files --oneline --recurse --reverse --classify? --ignore-glob= --no-permissions --no-user --no-time --no-filesize --human-readable --total-size --binary --bytes'
const DIFF =
  '-abBcdeEilnNpqrstTuwyZ -# -U= -C= -I= -W= -x= -X= -F= -L= -S= --brief --unified? --context? --side-by-side --recursive --color? --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion --new-file --text --report-identical-files --exclude= --exclude-from= --width= --suppress-common-lines --minimal --speed-large-files --strip-trailing-cr --label= --normal --ed --rcs --no-dereference --from-file= --to-file= --starting-file= --show-c-function --ignore-matching-lines= --left-column --expand-tabs --initial-tab'

/** Read-only options of programs that show files, directories, archives and their differences. */
export const readOnlyFileOptions: readonly OptionRow[] = [
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
  ['md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum', CHECKSUM],
  [
    'readlink',
    '-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero --verbose --quiet --silent',
  ],
  [
    'realpath',
    '-emLPqsz --relative-to= --relative-base= --no-symlinks --strip --logical --physical --canonicalize-existing --canonicalize-missing --quiet --zero',
  ],
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
  ['zipinfo', '-12lmshzvtTM'],
  [
    'tokei',
    '-fCc -s= -t= -e= -n= --files --sort= --type= --types= --exclude= --compact --hidden --no-ignore --languages --columns=',
  ],
  [
    'fd fdfind',
    '-HIusigFlaLp0q1 -x~ -X~ --exec~ --exec-batch~ -d= -E= -t= -e= -S= -o= -c= -j= -C= --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --exclude= --prune --type= --extension= --size= --changed-within= --changed-before= --owner= --format= --color= --threads= --max-results= --quiet --show-errors --base-directory= --path-separator= --search-path= --strip-cwd-prefix? --one-file-system --no-ignore-vcs --no-ignore-parent --ignore-file= --and=',
  ],
  [
    'xxd',
    '-abeiuCEp =-ps =-plain =-postscript -c= -g= -l= -n= -o= -s= =-cols= =-len= =-seek= =-bits =-include =-capitalize',
  ],
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
  ['basename', '-az -s= --multiple --suffix= --zero'],
  ['dirname', '-z --zero'],
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
]
