#: everything
find . | sort
#: in its own order
find dir
#: files
find . -type f | sort
#: directories
find . -type d | sort
#: links
find . -type l | sort
#: by name
find . -name '*.txt' | sort
#: by name in any case
touch A.TXT; find . -iname 'a.txt' | sort
#: by path
find . -path './dir/*' | sort
#: maxdepth
find . -maxdepth 1 | sort
#: mindepth
find . -mindepth 2 | sort
#: empty files and directories
touch e; mkdir ed; find . -empty | sort
#: by size
find . -size +10c | sort
#: not
find . -type f ! -name '*.txt' | sort
#: or
find . -name '*.md' -o -name '*.sh' | sort
#: groups
find . \( -name '*.md' -o -name '*.sh' \) -type f | sort
#: prune
find . -name sub -prune -o -type f -print | sort
#: exec
find dir -type f -exec cat {} \;
#: exec with plus
find . -name '*.txt' -exec wc -l {} + | sort
#: delete
find . -name '*.txt' -delete; ls; ls dir/sub
#: delete directories
find dir -delete; ls
#: delete a directory that is not empty
find dir -type d -delete; echo "rc $?"; ls
#: print0
find dir -type f -print0 | xargs -0 -n1 echo
#: printf
find . -type f -printf '%f %s %m\n' | sort
#: a missing start
find gone; echo "rc $?"
#: a file as the start
find a.txt -type f
#: through a link
find dirlink; find dirlink/
#: follow links
find -L dirlink -type f | sort
#: a loop of links
ln -s .. dir/up; find dir -name up; find -L dir -maxdepth 2 -name c.md
#: quit
find . -name '*.txt' -quit; echo "rc $?"
#: several starts
find dir/sub a.txt
#: by regex
find . -regex '.*/[ab]\.txt' | sort
#: with xargs
find . -name '*.txt' | sort | xargs cat
#: xargs and rm
find . -name '*.txt' | xargs rm; ls
#: newer than a file
touch -d 2019-01-01T00:00:00Z a.txt; find . -newer a.txt -type f | sort
#: deep directories
mkdir -p d1/d2/d3/d4/d5; touch d1/d2/d3/d4/d5/f; find d1 | tail -1; find d1 -type d | wc -l
#: tree
tree dir
#: du
du -a dir | cut -f2 | sort
#: broken links
ln -s gone l; find . -type l ! -exec test -e {} \; -print
