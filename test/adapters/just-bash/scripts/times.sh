#: touch sets a time
touch -d 2001-02-03T04:05:06Z a.txt; stat -c %Y a.txt
#: touch makes a file with a time
touch -d 1999-12-31T23:59:59Z n; stat -c '%Y %s' n
#: touch of a directory
touch -d 2003-04-05T00:00:00Z dir; stat -c %Y dir
#: touch without making
touch -c gone; ls gone; echo "rc $?"
#: touch in a directory that is not there
touch p/q; echo "rc $?"
#: touch of several
touch -d 2010-01-01T00:00:00Z x y z; stat -c %Y x y z
#: touch with a date that is none
touch -d nonsense a.txt; echo "rc $?"
#: an older and a newer file
touch -d 2001-01-01T00:00:00Z old; touch -d 2011-01-01T00:00:00Z new; [ old -ot new ] && echo older; [ new -nt old ] && echo newer
#: newer than nothing
[ a.txt -nt gone ] && echo newer; [ gone -ot a.txt ] && echo older
#: ls sorted by time
touch -d 2001-01-01T00:00:00Z x; touch -d 2005-01-01T00:00:00Z y; touch -d 2003-01-01T00:00:00Z z; ls -t x y z; ls -tr x y z
#: ls of a time
touch -d 2001-02-03T04:05:06Z a.txt; ls -l a.txt | cut -c11-
#: a copy keeps its time
touch -d 2001-02-03T04:05:06Z a.txt; cp -p a.txt c; stat -c %Y c
#: a plain copy
touch -d 2001-02-03T04:05:06Z a.txt; cp a.txt c; stat -c %Y c
#: a recursive copy keeps times
touch -d 2001-02-03T04:05:06Z dir/c.md; cp -rp dir d2; stat -c %Y d2/c.md d2/sub/d.txt
#: a move keeps its time
touch -d 2001-02-03T04:05:06Z a.txt; mv a.txt m; stat -c %Y m
#: a move of a directory keeps times
touch -d 2001-02-03T04:05:06Z dir/c.md; mv dir d2; stat -c %Y d2/c.md
#: find by newer
touch -d 2001-01-01T00:00:00Z ref; touch -d 2000-01-01T00:00:00Z a.txt; find . -name '*.txt' -newer ref | sort
#: find by age
find . -type f -mtime +1000 | sort
#: fractions of a second
touch -d 2001-02-03T04:05:06.789Z a.txt; stat -c %Y a.txt
#: a time before 1970
touch -d 1960-01-01T00:00:00Z a.txt; stat -c %Y a.txt
#: a write makes a file new
touch -d 2001-01-01T00:00:00Z ref a.txt; echo x >> a.txt; [ a.txt -nt ref ] && echo newer
#: a chmod keeps the time
chmod 600 a.txt; stat -c %Y a.txt
#: date of a reference
date -u -r a.txt +%Y; echo "rc $?"
#: stat with a format of dates
touch -d 2001-02-03T04:05:06Z a.txt; stat -c '%y' a.txt
