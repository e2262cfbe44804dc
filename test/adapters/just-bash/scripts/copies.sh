#: a file
cp a.txt c; cat c
#: a file over a file
cp a.txt b.txt; cat b.txt
#: a file into a directory
cp a.txt dir; cat dir/a.txt
#: several into a directory
cp a.txt b.txt dir; ls dir
#: several into a file
cp a.txt b.txt run.sh; echo "rc $?"
#: a directory without -r
cp dir d2; echo "rc $?"; ls
#: a directory
cp -r dir d2; find d2 | sort; cat d2/sub/d.txt
#: a directory into a directory
mkdir d2; cp -r dir d2; find d2 | sort
#: a directory over its copy
cp -r dir d2; echo x > dir/c.md; cp -r dir/. d2; cat d2/c.md
#: the content of a directory
mkdir d2; cp -r dir/* d2; ls d2
#: a directory into itself
cp -r dir dir/inside; echo "rc $?"
#: a file onto itself
cp a.txt a.txt; echo "rc $?"; cat a.txt
#: a file onto itself by a link
cp a.txt link; echo "rc $?"
#: -a is not known
cp -a dir d2; echo "rc $?"
#: no clobber
cp -n a.txt b.txt; cat b.txt
#: verbose
cp -v a.txt c
#: a missing source
cp gone c; echo "rc $?"
#: a missing target directory
cp a.txt gone/c; echo "rc $?"; ls
#: a link copies its file
cp link c; readlink c; cat c
#: a link is copied recursively as a link
ln -s c.md dir/l; cp -r dir d2; readlink d2/l; cat d2/l
#: links below keep their targets
ln -s /w/a.txt dir/l; cp -r dir d2; readlink d2/l
#: a directory over a file
cp -r dir a.txt; echo "rc $?"
#: a file over a directory of the same name
mkdir dir/a.txt; cp a.txt dir; echo "rc $?"
#: modes come along
chmod 640 a.txt; cp a.txt c; stat -c %a c
#: modes of directories come along
chmod 700 dir/sub; cp -r dir d2; stat -c %a d2/sub
#: modes over an existing file
chmod 600 b.txt; cp a.txt b.txt; stat -c %a b.txt
#: binary
printf '\x00\xff\x80' > bin; cp bin c; cmp bin c && echo same
#: an empty file
: > e; cp e c; wc -c c
#: an empty directory
mkdir e; cp -r e c; ls -d c; ls c
#: a copy is independent
cp a.txt c; echo more >> c; cat a.txt
#: hard links become copies
ln dir/c.md dir/h; cp -r dir d2; [ d2/c.md -ef d2/h ] || echo apart
#: by cat
cat a.txt b.txt > both; cat both
#: by dd
dd if=a.txt of=c 2> /dev/null; echo "rc $?"
#: by rsync
rsync a.txt c; echo "rc $?"
#: large content
seq 1 20000 > big; cp big c; cmp big c && tail -1 c
#: a trailing slash
cp -r dir/ d2; ls d2
#: dots
cp ./dir/../a.txt ./dir/./x; cat dir/x
#: a broken link
ln -s gone l; cp l c; echo "rc $?"
#: onto a link of a directory
cp a.txt dirlink; ls dir
#: a directory onto a link of a directory
mkdir n; touch n/f; cp -r n dirlink; find dir | sort
