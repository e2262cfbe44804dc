#: tar and list
tar cf t.tar dir a.txt; tar tf t.tar | sort
#: tar and extract
tar cf t.tar dir; mkdir out; tar xf t.tar -C out; find out | sort; cat out/dir/c.md
#: tar with gzip
tar czf t.tgz dir; mkdir out; tar xzf t.tgz -C out; cat out/dir/sub/d.txt
#: tar over files
tar cf t.tar a.txt; echo changed > a.txt; tar xf t.tar; cat a.txt
#: tar keeps modes
chmod 640 a.txt; tar cf t.tar a.txt run.sh; mkdir o; tar xf t.tar -C o; stat -c %a o/a.txt o/run.sh
#: tar keeps times
tar cf t.tar a.txt; mkdir o; tar xf t.tar -C o; stat -c %Y o/a.txt
#: tar keeps links
tar cf t.tar link dirlink; mkdir o; tar xf t.tar -C o; readlink o/link o/dirlink
#: tar of hard links
ln a.txt h; tar cf t.tar a.txt h; mkdir o; tar xf t.tar -C o; cat o/h
#: tar of one member
tar cf t.tar dir a.txt; rm a.txt; tar xf t.tar a.txt; cat a.txt
#: tar of nothing
tar cf t.tar gone; echo "rc $?"
#: tar through a pipe
tar cf - dir | tar tf - | sort
#: tar copies a tree
mkdir o; tar cf - dir | tar xf - -C o; find o | sort
#: tar verbose
tar cvf t.tar a.txt b.txt
#: tar strips
tar cf t.tar dir; mkdir o; tar xf t.tar -C o --strip-components=1; find o | sort
#: tar excludes
tar cf t.tar --exclude='*.md' dir; tar tf t.tar | sort
#: tar of a file that is no archive
tar tf a.txt; echo "rc $?"
#: tar appends
tar cf t.tar a.txt; tar rf t.tar b.txt; tar tf t.tar; echo "rc $?"
#: gzip and back
gzip a.txt; ls; gunzip a.txt.gz; cat a.txt
#: gzip keeps
gzip -k a.txt; ls a.txt a.txt.gz; zcat a.txt.gz
#: gzip through a pipe
gzip -c a.txt | gunzip -c
#: gunzip of what is not
gunzip b.txt; echo "rc $?"
#: base64 there and back
base64 a.txt > b64; base64 -d b64 | cmp - a.txt && echo same
#: checksums
md5sum a.txt > sums; sha256sum b.txt >> sums; cat sums; md5sum -c sums 2> /dev/null | head -1
#: split and join
seq 1 10 > n; split -l 3 n part-; ls part-*; cat part-* | cmp - n && echo same
#: split over existing parts
seq 1 4 > n; touch part-aa; split -l 2 n part-; cat part-aa
